// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "skill.h"

#include "library.h"
#include "prompt.h"
#include "tokens.h"
#include "utf8.h"

namespace gb::rpc {
namespace {

// The rules of Agent Skills: descriptions up to 1024 characters, and bodies that stay under 5000 tokens.
constexpr std::size_t longestDescription = 1024;
constexpr std::size_t largestBody = 4000;

std::string firstParagraph(const std::string& doc)
{
    std::string text;
    std::string_view rest(doc);
    rest = rest.substr(0, rest.find("\n\n"));
    while (!rest.empty()) {
        const char32_t c = takeCharacter(rest);
        // Angle brackets are not allowed in a description, and a line break ends a sentence at most.
        if (c == U'\n' || c == U'<' || c == U'>')
            text += ' ';
        else if (!isInvisible(c))
            appendCharacter(text, c);
    }
    return text;
}

std::string shortened(std::string text, std::size_t characters)
{
    std::string_view rest(text);
    std::string out;
    for (std::size_t n = 0; n + 1 < characters && !rest.empty(); ++n)
        appendCharacter(out, takeCharacter(rest));
    return rest.empty() ? out : out + "…";
}

std::string summaryTable(const std::vector<Function>& functions)
{
    std::string text;
    const std::vector<LibraryName> names = libraryNames(functions);
    for (std::size_t i = 0; i < functions.size(); ++i)
        text += "- `" + names[i].python + "`: " + shortened(firstParagraph(functions[i].summary), 200) + "\n";
    return text;
}

} // namespace

std::string skillName(const std::string& name)
{
    std::string out;
    for (const char c : name) {
        const bool upper = c >= 'A' && c <= 'Z';
        const bool good = upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (good)
            out += upper ? static_cast<char>(c - 'A' + 'a') : c;
        else if (!out.empty() && out.back() != '-')
            out += '-';
    }
    out = out.substr(0, 64);
    while (!out.empty() && out.back() == '-')
        out.pop_back();
    return out.empty() ? "interface" : out;
}

std::string skillDescription(
    const std::string& name, const std::string& doc, const std::vector<Function>& functions)
{
    std::string list;
    for (const Function& function : functions)
        list += (list.empty() ? "" : ", ") + firstParagraph(function.name);
    const std::string about = shortened(firstParagraph(doc), 300);
    return shortened("Calls the functions of the interface " + firstParagraph(name)
            + (about.empty() ? "" : " (" + about + ")") + ". Use it when a task needs one of: " + list + ".",
        longestDescription);
}

std::vector<TextFile> skillFiles(
    const std::string& name, const std::string& doc, const std::vector<Function>& functions)
{
    const std::string module = libraryModule(name);
    const std::string skill = skillName(name);
    std::string reference = promptText(name, doc, functions, module + ".");
    // A JSON string is a YAML string.
    std::string text = "---\nname: " + skill
        + "\ndescription: " + Json(skillDescription(name, doc, functions)).dump() + "\n---\n\n# " + skill
        + "\n\nThe functions below are in `scripts/" + module
        + ".py`, which needs nothing but Python 3.8 or newer:\n\n```python\nimport sys\n"
          "sys.path.insert(0, \"<this skill's folder>/scripts\")\nimport "
        + module + "\n```\n\nA call that fails raises `" + module
        + ".RemoteError` with the host's traceback. Arguments and results are JSON values; "
          "tensors arrive as torch or numpy arrays.\n\n";
    std::vector<TextFile> files;
    if (estimateTokens(reference) <= largestBody) {
        text += reference;
    } else {
        text += summaryTable(functions)
            + "\nArguments, results and examples: see [reference.md](reference.md).\n";
        files.push_back({"reference.md", std::move(reference)});
    }
    files.insert(files.begin(), {"SKILL.md", std::move(text)});
    files.push_back({"scripts/" + module + ".py", libraryText(name, doc, functions)});
    return files;
}

} // namespace gb::rpc
