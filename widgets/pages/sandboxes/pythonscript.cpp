// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "pythonscript.h"

#include <algorithm>

#include <QDir>
#include <QRegularExpression>
#include <QStringList>

#include <widgets/itemmodels/fields.h>

namespace gb::ui {
namespace {

constexpr int step = 4;

QString margin(int indent)
{
    return QString(indent, QLatin1Char(' '));
}

// One to a line, unless there is only a handful of short ones.
QString listed(const QStringList& items, QLatin1Char open, QLatin1Char close, int indent)
{
    constexpr int shortLine = 60;
    const QString flat = items.join(QStringLiteral(", "));
    if (flat.size() <= shortLine && !flat.contains(QLatin1Char('\n')))
        return open + flat + close;
    return open + QStringLiteral("\n") + margin(indent + step)
        + items.join(QStringLiteral(",\n") + margin(indent + step)) + QStringLiteral(",\n") + margin(indent)
        + close;
}

QString python(const Json& value, int indent)
{
    if (value.is_null())
        return QStringLiteral("None");
    if (value.is_boolean())
        return value.get<bool>() ? QStringLiteral("True") : QStringLiteral("False");
    if (!value.is_structured())
        return compactJson(value); // JSON's texts and numbers are Python's
    QStringList items;
    for (const auto& [key, item] : value.items())
        items += (value.is_object() ? compactJson(key) + QStringLiteral(": ") : QString())
            + python(item, indent + step);
    return value.is_object() ? listed(items, QLatin1Char('{'), QLatin1Char('}'), indent)
                             : listed(items, QLatin1Char('['), QLatin1Char(']'), indent);
}

// Writes a spec as calls of the classes of glovebox.environment, and knows in the end which it used.
class ScriptWriter
{
public:
    ScriptWriter(const Json& defaults, QString folder) : m_defaults(defaults), m_folder(std::move(folder)) { }

    QString config(const Json& values)
    {
        QString out = use("SandboxConfig") + QLatin1Char('(');
        Json unknown = Json::object();
        for (const auto& [field, value] : values.items()) {
            if (field == "scoped" || field == "name" || value.is_null())
                continue;
            if (!m_defaults.contains(field))
                unknown[field] = value;
            else if (m_defaults[field] != value)
                out += argument(QString::fromStdString(field), fieldText(field, value));
        }
        if (!unknown.empty())
            out += argument(QStringLiteral("unknown"), python(unknown, step));
        return out + (out.endsWith(QLatin1Char('(')) ? QStringLiteral(")") : QStringLiteral("\n)"));
    }

    QString use(const char* name)
    {
        const QLatin1String used(name);
        if (!m_used.contains(used))
            m_used.append(used);
        return used;
    }

    QString imports()
    {
        m_used.sort();
        return QStringLiteral("from glovebox.environment import ") + m_used.join(QStringLiteral(", "));
    }

private:
    static QString argument(const QString& name, const QString& value)
    {
        return QLatin1Char('\n') + margin(step) + name + QLatin1Char('=') + value + QLatin1Char(',');
    }

    QString fieldText(const std::string& field, const Json& value)
    {
        if (field == "models" || field == "repos")
            return objects(value, field == "models" ? "ModelConfig" : "RepoConfig");
        if (field == "local_files" || field == "local_dirs")
            return places(value);
        if (field == "execution_mode")
            return value == "none" ? QStringLiteral("None")
                                   : use("ExecutionMode") + (value == "cli" ? ".CLI" : ".NOTEBOOK");
        return python(value, step);
    }

    // What is no object of such names is shown as it is: its keys would be code.
    static bool isNamed(const Json& value)
    {
        static const QRegularExpression name(QStringLiteral("\\A[A-Za-z_][A-Za-z0-9_]*\\z"));
        if (!value.is_object())
            return false;
        const auto items = value.items();
        return std::all_of(items.begin(), items.end(),
            [](const auto& item) { return name.match(QString::fromStdString(item.key())).hasMatch(); });
    }

    QString object(const Json& value, const char* className)
    {
        if (!isNamed(value))
            return python(value, step);
        QStringList arguments;
        for (const auto& [key, item] : value.items()) {
            const bool isPath = key == "path" || key == "local";
            arguments += QString::fromStdString(key) + QLatin1Char('=')
                + (isPath && item.is_string() ? whole(item) : python(item, step));
        }
        return use(className) + QLatin1Char('(') + arguments.join(QStringLiteral(", ")) + QLatin1Char(')');
    }

    QString objects(const Json& values, const char* className)
    {
        QStringList items;
        for (const auto& value : values)
            items += object(value, className);
        return listed(items, QLatin1Char('['), QLatin1Char(']'), step);
    }

    QString places(const Json& values)
    {
        QStringList items;
        for (const auto& value : values)
            items += place(value);
        return listed(items, QLatin1Char('['), QLatin1Char(']'), step);
    }

    QString place(const Json& value)
    {
        if (value.is_object())
            return object(value, "Mount");
        if (!value.is_array() || value.size() != 2 || !value[0].is_string())
            return python(value, step); // not finished yet
        return QLatin1Char('(') + whole(value[0]) + QStringLiteral(", ") + python(value[1], step)
            + QLatin1Char(')');
    }

    QString whole(const Json& path) const
    {
        const auto text = QString::fromStdString(path.get<std::string>());
        if (m_folder.isEmpty() || text.startsWith(QLatin1Char('~')))
            return python(path, step);
        return compactJson(Json(QDir(m_folder).absoluteFilePath(text).toStdString()));
    }

    const Json& m_defaults;
    QString m_folder;
    QStringList m_used;
};

} // namespace

QString pythonScript(const Json& values, const Json& defaults, const QString& folder)
{
    const bool scoped = boolOr(values, "scoped");
    const QString name = QString::fromStdString(stringOr(values, "name"));
    ScriptWriter writer(defaults, folder);
    const QString config = writer.config(values);
    const QString className = writer.use(scoped ? "ScopedSandbox" : "Sandbox");
    const QString variable = scoped ? QStringLiteral("scoped") : QStringLiteral("sandbox");
    const QString start =
        name.isEmpty() ? QString() : QStringLiteral("name=") + compactJson(name.toStdString());
    const QString interface = folder.isEmpty() ? QStringLiteral("interface.py")
                                               : QDir(folder).filePath(QStringLiteral("interface.py"));
    const QString work = scoped
        ? QStringLiteral("tools = scoped.serve(%1, expose_as=\"library\", name=\"model_tools\")\n"
                         "    print(tools.get_prompt_docs())")
              .arg(compactJson(interface.toStdString()))
        : QStringLiteral("print(sandbox.exec(\"python3 --version\"))");
    return QStringLiteral("%1\n\n%2 = %3(%4)\n%2.start(%5)\ntry:\n    %6\nfinally:\n    %2.terminate()\n")
        .arg(writer.imports(), variable, className, config, start, work);
}

} // namespace gb::ui
