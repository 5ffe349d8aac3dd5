#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/utf8.h"
#include "attnviz/text/template/budget.h"
#include "attnviz/text/template/go_template.h"

namespace attnviz::templates {

namespace {

bool mentions_field(const std::vector<GoNode>& nodes, const std::string& lower);
bool mentions_field(const GoPipe& pipe, const std::string& lower) {
  return std::ranges::any_of(pipe.commands, [&](const std::vector<GoOperand>& command) {
    return std::ranges::any_of(command, [&](const GoOperand& operand) {
      return std::ranges::any_of(
                 operand.fields,
                 [&](const std::string& one) { return ascii_lower(one) == lower; }) ||
             (operand.pipe != nullptr && mentions_field(*operand.pipe, lower));
    });
  });
}
bool mentions_field(const std::vector<GoNode>& nodes, const std::string& lower) {
  return std::ranges::any_of(nodes, [&](const GoNode& node) {
    return (node.pipe != nullptr && mentions_field(*node.pipe, lower)) ||
           mentions_field(node.body, lower) || mentions_field(node.otherwise, lower);
  });
}

// Drops everything after the first action with .Response.
std::vector<GoNode> cut(const std::vector<GoNode>& nodes, bool& is_cut) {
  std::vector<GoNode> kept;
  for (const GoNode& node : nodes) {
    if (is_cut) {
      break;
    }
    GoNode copy;
    copy.kind = node.kind;
    copy.at = node.at;
    copy.text = node.text;
    copy.pipe = node.pipe;
    if (node.kind == GoNode::Kind::kAction) {
      is_cut = mentions_field(*node.pipe, "response");
    }
    copy.body = cut(node.body, is_cut);
    copy.otherwise = cut(node.otherwise, is_cut);
    kept.push_back(std::move(copy));
  }
  return kept;
}

// Finds a field by its name in Go: ToolCallID is tool_call_id in JSON.
const Value* field_of(const Map& map, std::string_view name) {
  const auto plain = [](std::string_view text) {
    std::string letters = ascii_lower(text);
    std::erase_if(letters, [](char one) { return one == '_' || one == '$'; });
    return letters;
  };
  const auto found = std::ranges::find_if(
      map.members, [&](const Map::Member& one) { return plain(one.name) == plain(name); });
  return found == map.members.end() ? nullptr : &found->value;
}

enum class GoFlow { kOn, kBreak, kContinue };

class GoRun {
 public:
  GoRun(std::string_view source, std::string_view where, const Value& data, const GoDates& dates,
        Budget& budget)
      : source_(source), where_(where), dates_(dates), budget_(budget) {
    variables_.emplace_back("$", data);
  }

  Written write(const std::vector<GoNode>& nodes) {
    Written out;
    const Value dot = variables_.front().second;
    run(nodes, dot, out);
    return out;
  }

 private:
  GoFlow run(const std::vector<GoNode>& nodes, const Value& dot, Written& out) {
    const Budget::Level deeper(budget_);
    for (const GoNode& node : nodes) {
      GoFlow flow = GoFlow::kOn;
      try {
        budget_.step();
        flow = run(node, dot, out);
      } catch (const Error& error) {
        if (std::string_view(error.what()).starts_with(where_)) {
          throw;
        }
        // Callers distinguish only this kind of error.
        if (dynamic_cast<const TooMuch*>(&error) != nullptr) {
          throw TooMuch(
              fmt::format("{}: {}: {}", where_, place_in(source_, node.at), error.what()));
        }
        fail_at(where_, source_, node.at, error.what(), error.kind());
      }
      if (flow != GoFlow::kOn) {
        return flow;
      }
    }
    return GoFlow::kOn;
  }

  GoFlow run(const GoNode& node, const Value& dot, Written& out) {
    const std::size_t n_variables = variables_.size();
    GoFlow flow = GoFlow::kOn;
    switch (node.kind) {
      case GoNode::Kind::kText:
        write(node.text, out);
        return flow;
      case GoNode::Kind::kAction: {
        const Value value = value_of(*node.pipe, dot);
        if (node.pipe->variables.empty()) {
          write(go_text(value, budget_), out);
        }
        return flow;
      }
      case GoNode::Kind::kIf:
        flow = run(value_of(*node.pipe, dot).is_true() ? node.body : node.otherwise, dot, out);
        break;
      case GoNode::Kind::kWith: {
        const Value value = value_of(*node.pipe, dot);
        flow = value.is_true() ? run(node.body, value, out) : run(node.otherwise, dot, out);
        break;
      }
      case GoNode::Kind::kRange:
        run_range(node, dot, out);
        break;
      case GoNode::Kind::kBreak:
        return GoFlow::kBreak;
      case GoNode::Kind::kContinue:
        return GoFlow::kContinue;
    }
    variables_.resize(n_variables, {"", Value()});
    return flow;
  }

  void write(std::string_view text, Written& out) {
    budget_.write(text.size());
    out.add(text, message_);
  }

  // The pairs that a range iterates over: keys of mappings in their order.
  std::vector<std::pair<Value, Value>> pairs_of(const Value& value) {
    std::vector<std::pair<Value, Value>> pairs;
    if (const Map* const map = value.map()) {
      for (const Map::Member& member : map->members) {
        pairs.emplace_back(member.name, member.value);
      }
      std::ranges::stable_sort(pairs, [](const auto& one, const auto& other) {
        return *one.first.text() < *other.first.text();
      });
    } else if (const List* const list = value.list()) {
      for (const Value& item : list->items) {
        pairs.emplace_back(static_cast<std::int64_t>(pairs.size()), item);
      }
    } else if (value.is_true()) {
      fail(fmt::format("range: nothing goes through {}", value.kind()));
    }
    budget_.make_items(pairs.size());
    return pairs;
  }

  void run_range(const GoNode& node, const Value& dot, Written& out) {
    const GoPipe& pipe = *node.pipe;
    const std::size_t n_variables = variables_.size();
    const std::optional<std::size_t> outer = message_;
    const auto pairs = pairs_of(commands_of(pipe, dot));
    for (const auto& [key, item] : pairs) {
      budget_.step();
      variables_.resize(n_variables, {"", Value()});
      const bool has_both = pipe.variables.size() == 2;
      for (std::size_t i = 0; i < pipe.variables.size(); ++i) {
        take(pipe.variables[i], has_both && i == 0 ? key : item, pipe.declares);
      }
      if (const Map* const map = item.map(); map != nullptr && map->message) {
        message_ = map->message;
      }
      const GoFlow flow = run(node.body, item, out);
      message_ = outer;
      if (flow == GoFlow::kBreak) {
        break;
      }
    }
    variables_.resize(n_variables, {"", Value()});
    if (pairs.empty()) {
      run(node.otherwise, dot, out);
    }
  }

  void take(const std::string& name, const Value& value, bool declares) {
    if (declares) {
      budget_.make_items(1);
      budget_.make(name.size());
      variables_.emplace_back(name, value);
    } else {
      variable(name) = value;
    }
  }

  Value& variable(const std::string& name) {
    budget_.look_up(variables_.size(), name);
    const auto found = std::find_if(variables_.rbegin(), variables_.rend(),
                                    [&](const auto& one) { return one.first == name; });
    if (found == variables_.rend()) {
      fail(fmt::format("no variable is called {}", name));
    }
    return found->second;
  }

  Value value_of(const GoPipe& pipe, const Value& dot) {
    Value value = commands_of(pipe, dot);
    for (const std::string& name : pipe.variables) {
      take(name, value, pipe.declares);
    }
    return value;
  }

  Value commands_of(const GoPipe& pipe, const Value& dot) {
    const Budget::Level deeper(budget_);
    std::optional<Value> value;
    for (const std::vector<GoOperand>& command : pipe.commands) {
      value = command_value(command, dot, value);
    }
    return *value;
  }

  Value command_value(const std::vector<GoOperand>& command, const Value& dot,
                      const std::optional<Value>& piped) {
    budget_.step();
    const GoOperand& first = command.front();
    if (first.kind != GoOperand::Kind::kFunction) {
      if (command.size() > 1 || piped) {
        fail("only a function takes arguments");
      }
      return operand_value(first, dot);
    }
    if (first.name == "and" || first.name == "or") {
      return either(command, dot, piped);
    }
    std::vector<Value> arguments;
    for (std::size_t i = 1; i < command.size(); ++i) {
      arguments.push_back(operand_value(command[i], dot));
    }
    if (piped) {
      arguments.push_back(*piped);
    }
    for (const Value& argument : arguments) {
      budget_.read(argument.text() != nullptr ? argument.text()->size() : 0);
    }
    return go_call(first.name, arguments, dates_, budget_);
  }

  // The first operand that decides, or the last.
  Value either(const std::vector<GoOperand>& command, const Value& dot,
               const std::optional<Value>& piped) {
    const bool wants = command.front().name == "or";
    Value value;
    for (std::size_t i = 1; i < command.size(); ++i) {
      value = operand_value(command[i], dot);
      if (value.is_true() == wants) {
        return value;
      }
    }
    return piped ? *piped : value;
  }

  Value operand_value(const GoOperand& operand, const Value& dot) {
    budget_.step();
    switch (operand.kind) {
      case GoOperand::Kind::kConstant:
        return operand.constant;
      case GoOperand::Kind::kFunction:
        return go_call(operand.name, {}, dates_, budget_);
      case GoOperand::Kind::kDot:
        return field(dot, operand.fields);
      case GoOperand::Kind::kVariable:
        return field(variable(operand.name), operand.fields);
      case GoOperand::Kind::kPipe:
        break;
    }
    return field(value_of(*operand.pipe, dot), operand.fields);
  }

  Value field(Value of, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      budget_.step();
      budget_.make(name.size());
      const Map* const map = of.map();
      const Value* const found = map == nullptr                  ? nullptr
                                 : map->kind == MapKind::kStruct ? field_of(*map, name)
                                                                 : map->find(name, budget_);
      of = found == nullptr ? Value(Undefined{name}) : Value(*found);
    }
    return of;
  }

  std::string_view source_;
  std::string_view where_;
  const GoDates& dates_;
  Budget& budget_;
  std::vector<std::pair<std::string, Value>> variables_;
  std::optional<std::size_t> message_;
};

}  // namespace

GoTemplate::GoTemplate(std::string_view source, std::string_view where)
    : source_(source), where_(where), nodes_(parse_go(source_, where_)) {}

GoTemplate::~GoTemplate() = default;

bool GoTemplate::mentions(std::string_view field) const {
  return mentions_field(nodes_, ascii_lower(field));
}

Written GoTemplate::run(const Value& data, const GoDates& dates, Budget& budget,
                        bool until_response) const {
  bool is_cut = false;
  return GoRun(source_, where_, data, dates, budget)
      .write(until_response ? cut(nodes_, is_cut) : nodes_);
}

}  // namespace attnviz::templates
