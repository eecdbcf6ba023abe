// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <QObject>

#include <backend/base/json.h>
#include <backend/domain/sandboxspec.h>

namespace gb::ui {

// What a form edits: the values of named fields on their way from what is saved to what a person wants. A
// value may be wrong as it stands (text that is not a size yet), so that nothing typed is lost; problems()
// says so.
class Draft final : public QObject
{
    Q_OBJECT

public:
    // Where a value comes from, as the form says it beside the field.
    enum class Source { Default, Preset, File, You };
    using Fields = std::set<std::string>;
    using Validator = std::function<std::vector<SpecProblem>(const Json& values)>;

    Draft(Json defaults, Validator validator, QObject* parent = nullptr);

    const Json& values() const { return m_values; }
    Json value(const std::string& field) const;
    Json defaultValue(const std::string& field) const;
    // Typing in one field is one step of undo.
    void set(const std::string& field, Json value);
    void set(const Json& fields); // several at once, one step
    void applyPreset(const Json& fields);
    // What the file says now, only the keys it has. Fields that nobody changed here follow it, others are
    // kept; what both changed is answered, so that it can be asked about. Undo does not cross a change of the
    // file.
    Fields loadSaved(const Json& fields);
    // The values stand in the file now.
    void markSaved();
    // As saved, everything or one field; a field that is as saved goes back to its default.
    void cancel();
    void reset(const std::string& field);

    Source source(const std::string& field) const;
    bool isChanged(const std::string& field) const { return value(field) != savedValue(field); }
    bool isDirty() const;

    bool canUndo() const { return m_done > 0; }
    bool canRedo() const { return m_done < m_steps.size(); }
    void undo();
    void redo();

    const std::vector<SpecProblem>& problems() const { return m_problems; }
    bool isValid() const;

Q_SIGNALS:
    void changed(const gb::ui::Draft::Fields& fields);

private:
    struct Step
    {
        Json before = Json::object();
        Json after = Json::object();
        std::chrono::steady_clock::time_point at;
    };

    Json savedValue(const std::string& field) const;
    void take(const Json& fields);
    void push(const Json& fields, bool typed);

    Json m_defaults;
    Json m_preset = Json::object();
    Json m_saved = Json::object();
    Json m_values;
    Validator m_validator;
    std::vector<SpecProblem> m_problems;
    std::vector<Step> m_steps;
    std::size_t m_done = 0;
};

} // namespace gb::ui
