// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "specrules.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <regex>

namespace gb::rules {
namespace {

bool matches(std::string_view text, const std::regex& pattern)
{
    // std::regex recurses per character, so a hostile length is cut off before it gets there.
    return text.size() <= 512 && std::regex_match(text.begin(), text.end(), pattern);
}

std::string quoted(std::string_view text)
{
    return "\"" + std::string(text.substr(0, 80)) + "\"";
}

bool hasControl(std::string_view text)
{
    return std::any_of(text.begin(), text.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte < 0x20 || byte == 0x7f;
    });
}

bool hasParentStep(std::string_view path)
{
    for (std::size_t at = 0; at <= path.size();) {
        const std::size_t end = std::min(path.find('/', at), path.size());
        if (path.substr(at, end - at) == "..")
            return true;
        at = end + 1;
    }
    return false;
}

bool isUnder(std::string_view path, std::string_view folder)
{
    return path == folder || (path.starts_with(folder) && path[folder.size()] == '/');
}

} // namespace

Verdict sandboxName(std::string_view text)
{
    static const std::regex pattern("[A-Za-z0-9][A-Za-z0-9 ._-]{0,62}");
    if (text.empty() || matches(text, pattern))
        return {};
    return Complaint{quoted(text) + " is not a name for a sandbox",
        "use up to 63 letters, digits, spaces, '.', '_' or '-', starting with a letter or digit"};
}

Verdict provider(std::string_view text)
{
    static const std::regex pattern("[a-z][a-z0-9-]{0,31}");
    if (matches(text, pattern))
        return {};
    return Complaint{quoted(text) + " is not the name of a provider", "use \"local\" or \"modal\""};
}

Verdict pythonVersion(std::string_view text)
{
    static const std::regex pattern(R"(3\.(\d{1,2})(\.\d{1,2})?)");
    std::match_results<std::string_view::const_iterator> match;
    if (text.size() > 16 || !std::regex_match(text.begin(), text.end(), match, pattern))
        return Complaint{quoted(text) + " is not a Python version", "write it like \"3.11\""};
    if (std::stoi(match[1].str()) < 8)
        return Complaint{"Python " + std::string(text) + " is too old", "use 3.8 or newer"};
    return {};
}

Verdict requirement(std::string_view text)
{
    static const std::regex pattern(
        R"([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?\s*(\[[A-Za-z0-9 ,._-]*\])?\s*([<>=!~@(;][^\x00-\x1f]*)?)");
    if (text.empty())
        return Complaint{"an empty package name", "remove the entry"};
    if (text.front() == '-')
        return Complaint{quoted(text) + " is an option of the installer, not a package",
            "put options into your pip or uv settings; they are passed through"};
    if (text.find("http://") != std::string_view::npos)
        return Complaint{quoted(text) + " would be fetched without encryption", "use an https:// address"};
    if (text.find('/') != std::string_view::npos && text.find('@') == std::string_view::npos)
        return Complaint{quoted(text) + " is a path or an address, not a package",
            "write \"name @ https://…\", or copy the folder in with `local_dirs` and install it from there"};
    if (!matches(text, pattern))
        return Complaint{
            quoted(text) + " is not a package requirement", "write it like \"numpy\" or \"numpy>=1.26\""};
    return {};
}

Verdict systemPackage(std::string_view text)
{
    static const std::regex pattern(R"([a-z0-9][a-z0-9+.-]+(:[a-z0-9]+)?(=[A-Za-z0-9.+:~-]+)?)");
    if (matches(text, pattern))
        return {};
    return Complaint{quoted(text) + " is not the name of a Debian package",
        "write it like \"git\" or \"ffmpeg=7:5.1.6-0+deb12u1\", in lower case and without options"};
}

Verdict variableName(std::string_view text)
{
    static const std::regex pattern("[A-Za-z_][A-Za-z0-9_]{0,127}");
    if (matches(text, pattern))
        return {};
    if (text.empty())
        return Complaint{"the name is missing", "use letters, digits and '_', not starting with a digit"};
    return Complaint{quoted(text) + " is not the name of an environment variable",
        "use letters, digits and '_', not starting with a digit"};
}

Verdict secretName(std::string_view text)
{
    if (text.find('=') != std::string_view::npos)
        return Complaint{"a secret is named here, its value never is",
            "write only the name; the value is read from your environment, .env or the key store"};
    if (auto complaint = variableName(text))
        return complaint;
    static constexpr std::array refused{
        "PATH", "HOME", "LD_PRELOAD", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP"};
    if (std::find(refused.begin(), refused.end(), text) != refused.end())
        return Complaint{
            quoted(text) + " steers programs and is not a secret", "set it under `env` if you need it"};
    return {};
}

Verdict gpuName(std::string_view text)
{
    static const std::regex pattern("[A-Za-z0-9][A-Za-z0-9 ._+-]{0,39}!?");
    if (text.empty() || matches(text, pattern))
        return {};
    if (text.find(':') != std::string_view::npos)
        return Complaint{quoted(text) + " mixes the type and the number of GPUs",
            "write the type as `gpu` and the number as `gpu_count`"};
    return Complaint{
        quoted(text) + " is not a GPU type", "write it like \"A100\" or \"H100\", or leave it out"};
}

Verdict modelName(std::string_view text)
{
    static const std::regex pattern(
        "[A-Za-z0-9_][A-Za-z0-9._-]{0,95}(/[A-Za-z0-9_][A-Za-z0-9._-]{0,95})?(@[A-Za-z0-9._/-]{1,100})?");
    if (matches(text, pattern) && text.find("..") == std::string_view::npos)
        return {};
    return Complaint{
        text.empty() ? "the name of the model is missing" : quoted(text) + " is not the name of a model",
        "write it like \"google/gemma-2-9b\"; a folder on this machine goes into `path`"};
}

Verdict pythonIdentifier(std::string_view text)
{
    static constexpr std::array keywords{"False", "None", "True", "and", "as", "assert", "async", "await",
        "break", "class", "continue", "def", "del", "elif", "else", "except", "finally", "for", "from",
        "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return",
        "try", "while", "with", "yield"};
    if (variableName(text))
        return Complaint{quoted(text) + " is not a Python name", "use letters, digits and '_'"};
    if (std::find(keywords.begin(), keywords.end(), text) != keywords.end())
        return Complaint{quoted(text) + " is a Python keyword", "choose another name, for example \"model\""};
    return {};
}

Verdict repoUrl(std::string_view text)
{
    static const std::regex shortForm("[A-Za-z0-9][A-Za-z0-9_.-]*/[A-Za-z0-9_.-]+");
    static const std::regex https(R"(https://[A-Za-z0-9.-]+(:\d+)?/[A-Za-z0-9_./~+%-]+)");
    static const std::regex ssh(R"((ssh://)?[A-Za-z0-9_.-]+@[A-Za-z0-9.-]+[:/][A-Za-z0-9_./~+-]+)");
    const bool known = matches(text, shortForm) || matches(text, https) || matches(text, ssh);
    if (known && text.find("..") == std::string_view::npos)
        return {};
    if (text.starts_with("https://") && text.find('@') != std::string_view::npos)
        return Complaint{
            "the address carries a password", "keep it in your git credentials and leave it out here"};
    return Complaint{
        text.empty() ? "the repository is missing" : quoted(text) + " is not a repository to clone",
        "write \"org/repo\", an https:// address or an ssh address"};
}

Verdict insidePath(std::string_view text)
{
    if (text.empty())
        return Complaint{"the place in the sandbox is missing", "name one, like \"/workspace/data\""};
    if (text.front() != '/')
        return Complaint{
            quoted(text) + " must be absolute inside the sandbox", "start it with \"/workspace/\""};
    if (hasParentStep(text))
        return Complaint{quoted(text) + " contains \"..\"", "write the path it leads to"};
    if (hasControl(text) || text.size() > 1024)
        return Complaint{"the path is too long or contains control characters", "choose a plain path"};
    if (text == "/")
        return Complaint{
            "the root of the sandbox cannot be replaced", "choose a folder, for example \"/workspace/data\""};
    for (const std::string_view taken : {"/proc", "/sys", "/dev", "/run/glovebox", "/models", "/volumes"}) {
        if (isUnder(text, taken))
            return Complaint{quoted(text) + " lies in a place the sandbox keeps for itself",
                "choose another one, for example under \"/workspace\""};
    }
    return {};
}

Verdict localPath(std::string_view text)
{
    if (text.empty())
        return Complaint{"the path on this machine is missing", "name a file or folder"};
    if (hasControl(text) || text.size() > 4096)
        return Complaint{"the path is too long or contains control characters", "choose a plain path"};
    return {};
}

Verdict hostPattern(std::string_view text)
{
    static const std::regex pattern(
        R"((\*\.)?[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*(:\d{1,5})?)");
    static const std::regex range(R"([0-9.]+/\d{1,2}|[0-9A-Fa-f:.]+:[0-9A-Fa-f:.]*/\d{1,3})");
    if (matches(text, range))
        return {};
    if (text.find("://") != std::string_view::npos || text.find('/') != std::string_view::npos)
        return Complaint{
            quoted(text) + " is an address, not a host", "write only the host, like \"data.example.org\""};
    if (!matches(text, pattern))
        return Complaint{quoted(text) + " is not a host",
            "write it like \"data.example.org\", \"*.example.org\", \"host:8443\" or \"10.0.0.0/8\""};
    return {};
}

Verdict interpreter(std::string_view text)
{
    if (text.empty())
        return {};
    if (text.front() != '/' || hasParentStep(text) || hasControl(text))
        return Complaint{quoted(text) + " is not an absolute path",
            "name the interpreter in full, like \"/usr/bin/python3\""};
    return {};
}

Verdict plainText(std::string_view text)
{
    if (text.find('\0') == std::string_view::npos && text.size() <= 32768)
        return {};
    return Complaint{"the value is too long or contains a NUL character", "shorten it"};
}

} // namespace gb::rules
