// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "draft.h"

#include <algorithm>

namespace gb::ui {
namespace {

// Keystrokes closer than this are undone together.
constexpr std::chrono::milliseconds typingPause{900};

} // namespace

Draft::Draft(Json defaults, Validator validator, QObject* parent)
    : QObject(parent), m_defaults(std::move(defaults)), m_values(m_defaults),
      m_validator(std::move(validator)), m_problems(m_validator(m_values))
{ }

Json Draft::value(const std::string& field) const
{
    const auto found = m_values.find(field);
    return found == m_values.end() ? Json() : *found;
}

Json Draft::defaultValue(const std::string& field) const
{
    const auto found = m_defaults.find(field);
    return found == m_defaults.end() ? Json() : *found;
}

Json Draft::savedValue(const std::string& field) const
{
    const auto found = m_saved.find(field);
    return found == m_saved.end() ? defaultValue(field) : *found;
}

void Draft::set(const std::string& field, Json newValue)
{
    if (value(field) == newValue)
        return;
    push({{field, std::move(newValue)}}, true);
}

void Draft::set(const Json& fields)
{
    Json different = Json::object();
    for (const auto& [field, wanted] : fields.items())
        if (value(field) != wanted)
            different[field] = wanted;
    if (!different.empty())
        push(different, false);
}

void Draft::applyPreset(const Json& fields)
{
    m_preset = fields;
    set(fields);
}

void Draft::push(const Json& fields, bool typed)
{
    const auto now = std::chrono::steady_clock::now();
    m_steps.resize(m_done);
    const bool goesOn = typed && !m_steps.empty() && m_steps.back().after.size() == 1
        && m_steps.back().after.contains(fields.begin().key()) && now - m_steps.back().at < typingPause;
    if (goesOn) {
        m_steps.back().after = fields;
        m_steps.back().at = now;
    } else {
        Step step;
        step.after = fields;
        step.at = now;
        for (const auto& [field, after] : fields.items())
            step.before[field] = value(field);
        m_steps.push_back(std::move(step));
        m_done = m_steps.size();
    }
    take(fields);
}

void Draft::take(const Json& fields)
{
    Fields names;
    for (const auto& [field, wanted] : fields.items()) {
        m_values[field] = wanted;
        names.insert(field);
    }
    m_problems = m_validator(m_values);
    Q_EMIT changed(names);
}

Draft::Fields Draft::loadSaved(const Json& fields)
{
    Fields names;
    const Json* const sides[] = {&m_saved, &fields};
    for (const auto* side : sides)
        for (const auto& [field, ignored] : side->items())
            names.insert(field);
    Fields both;
    Json follow = Json::object();
    for (const auto& field : names) {
        const auto old = savedValue(field);
        const auto fresh = fields.contains(field) ? fields[field] : defaultValue(field);
        if (value(field) == old || value(field) == fresh)
            follow[field] = fresh;
        else if (old != fresh)
            both.insert(field);
    }
    m_saved = fields;
    m_steps.clear();
    m_done = 0;
    take(follow);
    return both;
}

void Draft::markSaved()
{
    for (const auto& [field, now] : m_values.items())
        if (now != defaultValue(field) || m_saved.contains(field))
            m_saved[field] = now;
    take(Json::object());
}

void Draft::cancel()
{
    Json back = Json::object();
    for (const auto& [field, now] : m_values.items())
        back[field] = savedValue(field);
    set(back);
}

void Draft::reset(const std::string& field)
{
    const Json one{{field, isChanged(field) ? savedValue(field) : defaultValue(field)}};
    set(one);
}

Draft::Source Draft::source(const std::string& field) const
{
    const auto now = value(field);
    if (m_saved.contains(field) && m_saved[field] == now)
        return Source::File;
    if (m_preset.contains(field) && m_preset[field] == now)
        return Source::Preset;
    return !m_saved.contains(field) && now == defaultValue(field) ? Source::Default : Source::You;
}

bool Draft::isDirty() const
{
    for (const auto& [field, now] : m_values.items())
        if (now != savedValue(field))
            return true;
    return false;
}

void Draft::undo()
{
    if (canUndo())
        take(m_steps[--m_done].before);
}

void Draft::redo()
{
    if (canRedo())
        take(m_steps[m_done++].after);
}

bool Draft::isValid() const
{
    return std::ranges::none_of(
        m_problems, [](const SpecProblem& p) { return p.severity == SpecProblem::Severity::Error; });
}

} // namespace gb::ui
