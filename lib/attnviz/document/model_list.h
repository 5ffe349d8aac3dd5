// The models on a machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace attnviz {

/// A model as a listing tells it; what is not known of it is empty or absent.
struct ListedModel {
  std::string name;   // by which it is found
  std::string store;  // the program that keeps it; "attnviz": the embedded model
  std::string path;   // its file or folder; empty for the embedded model
  std::string family;
  std::string quantisation;                 // "Q4_K_M", "BF16"
  std::optional<std::uint64_t> parameters;  // numbers of all tensors
  std::optional<std::uint64_t> bytes;       // of its files
  std::optional<std::uint64_t> n_layers;
  std::optional<std::uint64_t> n_heads;  // of a layer
  std::string problem;                   // why it cannot be read
};

struct ModelList {
  std::vector<ListedModel> models;
  struct Place {
    std::string store;
    std::string path;
    bool exists = false;
    bool barred = false;  // this user may not look there
  };
  std::vector<Place> places;  // where was looked
};

}  // namespace attnviz
