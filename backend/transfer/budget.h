// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>

namespace gb::transfer {

// How many connections all downloads together may hold, and who gets the next one. Starts at its limit,
// halves when the server pushes back (429, 503, refused connections) and grows again by one per success after
// a while. Engine thread only.
class ConnectionBudget
{
public:
    class Taker
    {
    public:
        virtual ~Taker() = default;
        virtual void connectionFree() = 0; // try to take again
        virtual int priority() const = 0; // higher first
    };

    explicit ConnectionBudget(int limit) : m_maximum(limit), m_limit(limit) { }

    bool take(); // false: none is free
    void giveBack();
    void wait(std::weak_ptr<Taker> taker); // to be told, once
    void pushedBack();
    void succeeded();
    int limit() const { return m_limit; }
    int used() const { return m_used; }

private:
    int m_maximum;
    int m_limit;
    int m_used = 0;
    std::int64_t m_changedAtNs = 0;
    std::list<std::weak_ptr<Taker>> m_waiting;
};

} // namespace gb::transfer
