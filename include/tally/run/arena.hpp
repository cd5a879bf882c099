// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Objects of any types that live as long as their arena. Layer 5, host only.
#pragma once

#include <utility>

namespace tally::v0 {

class arena {
public:
  arena() = default;
  arena(arena const&) = delete;
  arena& operator=(arena const&) = delete;
  ~arena() {
    while (last_ != nullptr)
      delete std::exchange(last_, last_->before);
  }
  /// The object, in its place here; the last one goes first.
  template <class T>
  T& keep(T value) {
    return make<T>(std::move(value));
  }
  /// An object made in its place here.
  template <class T, class... Args>
  T& make(Args&&... args) {
    auto* const added = new object<T>(last_, std::forward<Args>(args)...);
    last_ = added;
    return added->value;
  }

private:
  struct any_object {
    any_object* before;
    explicit any_object(any_object* b) : before(b) {}
    virtual ~any_object() = default;
  };
  template <class T>
  struct object final : any_object {
    T value;
    template <class... Args>
    explicit object(any_object* b, Args&&... args) : any_object(b), value(std::forward<Args>(args)...) {}
  };
  any_object* last_ = nullptr;
};

} // namespace tally::v0
