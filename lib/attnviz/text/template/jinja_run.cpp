#include "attnviz/text/template/jinja.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/text/template/budget.h"
#include "attnviz/text/template/python.h"

namespace attnviz::templates {

namespace {

// Names, and those of the enclosing scopes.
struct Scope {
  Map own;
  std::shared_ptr<Scope> outer;

  const Value* find(std::string_view name, Budget& budget) const {
    const Value* found = nullptr;
    for (const Scope* at = this; found == nullptr && at != nullptr; at = at->outer.get()) {
      found = at->own.find(name, budget);
    }
    return found;
  }
};

enum class JinjaFlow { kOn, kBreak, kContinue };

class JinjaRun {
 public:
  JinjaRun(std::string_view source, std::string_view where, const Map& globals)
      : source_(source), where_(where), scope_(std::make_shared<Scope>()) {
    scope_->own = globals;
    const auto add = [this](const char* name, auto function) {
      scope_->own.add(name, function_of([this, function](const Arguments& arguments) {
                        return Value(function(arguments, budget_));
                      }));
    };
    add("range", made_range);
    add("dict", made_dict);
    add("namespace", [](const Arguments& arguments, Budget& budget) {
      Value made = made_dict(arguments, budget);
      made.map()->kind = MapKind::kNamespace;
      return made;
    });
    scope_ = top_ = std::make_shared<Scope>(Scope{{}, scope_});
  }

  Written write(const Body& body) {
    Written out;
    run(body, out);
    return out;
  }

 private:
  // Errors in `work` get the position of the innermost part.
  template <class Work>
  auto placed(std::size_t at, const Work& work) {
    try {
      return work();
    } catch (const HasPlace&) {
      throw;
    } catch (const TooMuch& error) {
      throw Placed<TooMuch>(with_place(error, at));
    } catch (const Error& error) {
      throw Placed<Error>(error.kind(), with_place(error, at));
    }
  }

  std::string with_place(const Error& error, std::size_t at) const {
    return fmt::format("{}: {}: {}", where_, place_in(source_, at), error.what());
  }

  JinjaFlow run(const Body& body, Written& out) {
    for (const Statement& statement : body) {
      const JinjaFlow flow = placed(statement.at, [&] {
        budget_.step();
        const Budget::Level deeper(budget_);
        return run(statement, out);
      });
      if (flow != JinjaFlow::kOn) {
        return flow;
      }
    }
    return JinjaFlow::kOn;
  }

  JinjaFlow run(const Statement& statement, Written& out) {
    switch (statement.kind) {
      case StatementKind::kText:
        write(statement.text, out);
        return JinjaFlow::kOn;
      case StatementKind::kPrint:
        write(printed(value_of(*statement.value), budget_), out);
        return JinjaFlow::kOn;
      case StatementKind::kIf:
        for (const Branch& branch : statement.branches) {
          if (branch.condition == nullptr || value_of(*branch.condition).is_true()) {
            return run(branch.body, out);
          }
        }
        return JinjaFlow::kOn;
      case StatementKind::kFor:
        run_loop(statement, out);
        return JinjaFlow::kOn;
      case StatementKind::kSet:
        assign(*statement.target, value_of(*statement.value));
        return JinjaFlow::kOn;
      case StatementKind::kSetBlock:
        assign(*statement.target, filtered(statement.value.get(), captured(statement.body)));
        return JinjaFlow::kOn;
      case StatementKind::kMacro:
        scope_->own.set(statement.text, made_macro(statement), budget_);
        return JinjaFlow::kOn;
      case StatementKind::kFilter:
        write(printed(filtered(statement.value.get(), captured(statement.body)), budget_), out);
        return JinjaFlow::kOn;
      case StatementKind::kBreak:
        return JinjaFlow::kBreak;
      case StatementKind::kContinue:
        return JinjaFlow::kContinue;
      case StatementKind::kBody:
        break;
    }
    run_inside(statement.body, out);
    return JinjaFlow::kOn;
  }

  void write(std::string_view text, Written& out) {
    budget_.write(text.size());
    out.add(text, message_);
  }

  // Names that a body sets stay inside it.
  void run_inside(const Body& body, Written& out) {
    const std::shared_ptr<Scope> outer =
        std::exchange(scope_, std::make_shared<Scope>(Scope{{}, scope_}));
    run(body, out);
    scope_ = outer;
  }

  // The output of a body, as a text.
  Value captured(const Body& body) {
    Written out;
    run_inside(body, out);
    return Value(std::move(out.text));
  }

  // Applies filters whose innermost operand is a constant that stands for the text.
  Value filtered(const Expression* filters, const Value& text) {
    const Budget::Level deeper(budget_);
    if (filters == nullptr || filters->kind != ExpressionKind::kFilter) {
      return text;
    }
    const Value of = filtered(filters->parts.front().get(), text);
    return placed(filters->at, [&] { return apply_filter(*filters, of); });
  }

  void assign(const Expression& target, const Value& value) {
    if (target.kind == ExpressionKind::kName) {
      return scope_->own.set(target.name, value, budget_);
    }
    if (target.kind == ExpressionKind::kAttribute) {
      const Value of = value_of(*target.parts.front());
      if (of.map() == nullptr || of.map()->kind != MapKind::kNamespace) {
        fail("only a namespace takes an attribute");
      }
      namespaces_.add(of, value, budget_);
      return of.map()->set(target.name, value, budget_);
    }
    const std::vector<Value> items = items_of(value, budget_);
    if (items.size() != target.parts.size()) {
      fail(fmt::format("expected {} values, found {}", target.parts.size(), items.size()));
    }
    for (std::size_t i = 0; i < items.size(); ++i) {
      assign(*target.parts[i], items[i]);
    }
  }

  // The items that pass the loop's condition.
  std::vector<Value> loop_items(const Statement& loop) {
    std::vector<Value> items = items_of(value_of(*loop.value), budget_);
    if (loop.condition == nullptr) {
      return items;
    }
    std::vector<Value> kept;
    const std::shared_ptr<Scope> outer = scope_;
    for (const Value& item : items) {
      scope_ = std::make_shared<Scope>(Scope{{}, outer});
      assign(*loop.target, item);
      if (value_of(*loop.condition).is_true()) {
        kept.push_back(item);
      }
    }
    scope_ = outer;
    return kept;
  }

  void run_loop(const Statement& loop, Written& out) {
    const std::vector<Value> items = loop_items(loop);
    const std::shared_ptr<Scope> outer = scope_;
    const std::optional<std::size_t> outer_message = message_;
    for (std::size_t i = 0; i < items.size(); ++i) {
      budget_.turn(loop.names_loop);
      scope_ = std::make_shared<Scope>(Scope{{}, outer});
      if (loop.names_loop) {
        scope_->own.add("loop", loop_value(items, i));
      }
      assign(*loop.target, items[i]);
      if (const Map* const map = items[i].map(); map != nullptr && map->message) {
        message_ = map->message;
      }
      const JinjaFlow flow = run(loop.body, out);
      message_ = outer_message;
      if (flow == JinjaFlow::kBreak) {
        break;
      }
    }
    scope_ = outer;
    if (items.empty()) {
      run_inside(loop.otherwise, out);
    }
  }

  Value made_macro(const Statement& macro) {
    // Not owned: the scope owns the macro.
    const std::weak_ptr<Scope> defined_in = scope_;
    auto none = std::make_shared<List>(List{{}, ListKind::kTuple});
    return function_of([this, &macro, defined_in, none](const Arguments& arguments) {
      const Budget::Level deeper(budget_);
      if (arguments.values.size() > macro.parameters.size()) {
        fail(fmt::format("{} takes at most {} arguments, found {}", macro.text,
                         macro.parameters.size(), arguments.values.size()));
      }
      for (const auto& [name, value] : arguments.named) {
        budget_.look_up(2 * macro.parameters.size(), name);  // even if they are passed
        if (std::ranges::find(macro.parameters, name, &Parameter::name) == macro.parameters.end()) {
          fail(fmt::format("{} takes no argument {}", macro.text, name));
        }
      }
      const std::shared_ptr<Scope> caller = std::exchange(
          scope_,
          std::make_shared<Scope>(Scope{{}, defined_in.expired() ? top_ : defined_in.lock()}));
      for (std::size_t i = 0; i < macro.parameters.size(); ++i) {
        const Parameter& parameter = macro.parameters[i];
        const Value* const given = arguments.find(i, parameter.name);
        scope_->own.set(parameter.name,
                        given != nullptr                 ? *given
                        : parameter.otherwise != nullptr ? value_of(*parameter.otherwise)
                                                         : Value(Undefined{parameter.name}),
                        budget_);
      }
      scope_->own.add("varargs", none);
      scope_->own.add("kwargs", std::make_shared<Map>());
      Written out;
      run(macro.body, out);
      scope_ = caller;
      return Value(std::move(out.text));
    });
  }

  Value value_of(const Expression& node) {
    return placed(node.at, [&] {
      budget_.step();
      const Budget::Level deeper(budget_);
      Value value = evaluated(node);
      if (value.text() != nullptr) {
        budget_.read(value.text()->size());
      }
      return value;
    });
  }

  Value part(const Expression& node, std::size_t i) { return value_of(*node.parts[i]); }

  Value evaluated(const Expression& node) {
    switch (node.kind) {
      case ExpressionKind::kConstant:
        return node.constant;
      case ExpressionKind::kName: {
        const Value* const found = scope_->find(node.name, budget_);
        if (found == nullptr) {
          fail_if_known(node.name, "cycler joiner lipsum self", "name");
        }
        budget_.make(found == nullptr ? node.name.size() : 0);
        return found == nullptr ? Value(Undefined{node.name}) : *found;
      }
      case ExpressionKind::kList:
      case ExpressionKind::kTuple:
        return made_list(node);
      case ExpressionKind::kDict:
        return made_map(node);
      case ExpressionKind::kUnary:
        return applied(node.name, part(node, 0));
      case ExpressionKind::kBinary: {
        const Value left = part(node, 0);
        return applied(node.name, left, part(node, 1), budget_);
      }
      case ExpressionKind::kCompare:
        return compared(node);
      case ExpressionKind::kAnd: {
        Value left = part(node, 0);
        return left.is_true() ? part(node, 1) : left;
      }
      case ExpressionKind::kOr: {
        Value left = part(node, 0);
        return left.is_true() ? left : part(node, 1);
      }
      case ExpressionKind::kConditional:
        return part(node, 1).is_true()    ? part(node, 0)
               : node.parts[2] != nullptr ? part(node, 2)
                                          : Value(Undefined{"an inline if without else"});
      case ExpressionKind::kItem: {
        const Value of = part(node, 0);
        return item_of(of, part(node, 1), budget_);
      }
      case ExpressionKind::kAttribute:
        return attribute(part(node, 0), node.name, budget_);
      case ExpressionKind::kSlice:
        return slice(node);
      case ExpressionKind::kCall:
        return call(node);
      case ExpressionKind::kFilter:
        return apply_filter(node, part(node, 0));
      case ExpressionKind::kTest:
        return test(node);
    }
    return {};
  }

  Value made_list(const Expression& node) {
    auto list = std::make_shared<List>();
    list->kind = node.kind == ExpressionKind::kTuple ? ListKind::kTuple : ListKind::kList;
    for (const ExpressionPtr& one : node.parts) {
      list->items.push_back(value_of(*one));
    }
    budget_.make_items(list->items.size());
    return list;
  }

  Value made_map(const Expression& node) {
    auto map = std::make_shared<Map>();
    for (std::size_t i = 0; i + 1 < node.parts.size(); i += 2) {
      const Value key = part(node, i);
      map->set_key(key, part(node, i + 1), budget_);
    }
    budget_.make_items(map->members.size());
    return map;
  }

  Value compared(const Expression& node) {
    Value left = part(node, 0);
    for (std::size_t i = 0; i < node.names.size(); ++i) {
      Value right = part(node, i + 1);
      for (const Value* one : {&left, &right}) {
        budget_.read(one->list() != nullptr ? one->list()->items.size() : 0);
      }
      if (!holds(node.names[i], left, right, budget_)) {
        return false;
      }
      left = std::move(right);
    }
    return true;
  }

  Value slice(const Expression& node) {
    const Value of = part(node, 0);
    require_defined(of);
    std::optional<std::int64_t> bounds[3];
    for (std::size_t i = 0; i < 3; ++i) {
      if (node.parts[i + 1] != nullptr) {
        const Value bound = part(node, i + 1);
        bounds[i] =
            bound.is_none() ? std::nullopt : std::optional(needed_integer(bound, "a slice"));
      }
    }
    const std::int64_t step = bounds[2].value_or(1);
    if (step == 0) {
      fail("a slice with a step of 0");
    }
    return slice_of(of, bounds[0], bounds[1], step, budget_);
  }

  Arguments arguments_of(const Expression& node, std::optional<Value> first) {
    Arguments arguments;
    if (first) {
      arguments.values.push_back(std::move(*first));
    }
    for (std::size_t i = 1; i < node.parts.size(); ++i) {
      arguments.values.push_back(part(node, i));
    }
    for (const auto& [name, value] : node.named) {
      budget_.make(name.size());
      arguments.named.emplace_back(name, value_of(*value));
    }
    return arguments;
  }

  Value call(const Expression& node) {
    const Value function = part(node, 0);
    require_defined(function);
    if (function.function() == nullptr) {
      fail(fmt::format("{} is not a function", function.kind()));
    }
    return (*function.function())(arguments_of(node, std::nullopt));
  }

  Value apply_filter(const Expression& node, const Value& of) {
    return jinja_filter(node.name, arguments_of(node, of), budget_);
  }

  Value test(const Expression& node) {
    return jinja_test(node.name, arguments_of(node, part(node, 0)), budget_) != node.is_negated;
  }

  std::string_view source_;
  std::string_view where_;
  Budget budget_;
  MapsInCircles namespaces_;
  std::shared_ptr<Scope> scope_;
  std::shared_ptr<Scope> top_;          // of the template
  std::optional<std::size_t> message_;  // of the current iteration
};

}  // namespace

void Written::add(std::string_view more, std::optional<std::size_t> message) {
  if (more.empty()) {
    return;
  }
  if (parts.empty() || parts.back().message != message) {
    parts.push_back({text.size(), text.size(), message});
  }
  text += more;
  parts.back().end = text.size();
}

Written run_jinja(std::string_view source, std::string_view where, const Map& globals) {
  const std::string lines = with_line_feeds(source);
  return JinjaRun(lines, where, globals).write(parse_jinja(lines, where));
}

}  // namespace attnviz::templates
