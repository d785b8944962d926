// A store for ranks that are threads of one process.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "bench/run/rendezvous.hpp"

namespace tbench::bench {

class SharedStore {
 public:
  OpenStore opener() {
    return [this](const ranks::Waiting&) { return std::make_unique<View>(*this); };
  }
  std::unique_ptr<ranks::Store> view() { return std::make_unique<View>(*this); }

 private:
  class View final : public ranks::Store {
   public:
    explicit View(SharedStore& shared) : shared_{shared} {}
    void set(const std::string& key, const std::string& value) override {
      const std::lock_guard lock{shared_.mutex_};
      shared_.values_[key] = value;
    }
    bool has(const std::string& key) override {
      const std::lock_guard lock{shared_.mutex_};
      return shared_.values_.contains(key);
    }
    std::string get(const std::string& key) override {
      const std::lock_guard lock{shared_.mutex_};
      return shared_.values_.at(key);
    }

   private:
    SharedStore& shared_;
  };

  std::mutex mutex_;
  std::map<std::string, std::string> values_;
};

}  // namespace tbench::bench
