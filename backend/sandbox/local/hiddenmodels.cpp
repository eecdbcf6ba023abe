// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "hiddenmodels.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

#include <backend/base/fd.h>

namespace gb {
namespace {

constexpr std::size_t mostText = 128U << 20U;
constexpr mode_t readable = 0644;

std::string lowered(std::string text)
{
    std::ranges::transform(text, text.begin(),
        [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return text;
}

enum class FileKind { LeftOut, Config, Text, Vocabulary, Weights };

// Words of a vocabulary are data: only the whole name is looked for there.
FileKind kindOf(const std::string& path)
{
    const std::string name = lowered(fs::path(path).filename().string());
    const std::string extension = fs::path(name).extension().string();
    static constexpr std::array vocabularies{
        "tokenizer.json", "vocab.json", "vocab.txt", "merges.txt", "added_tokens.json"};
    static constexpr std::array leftOut{"", ".md", ".pdf", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".html",
        ".rst", ".gitattributes", ".gitignore", ".ipynb", ".yml", ".yaml", ".csv"};
    if (std::ranges::find(vocabularies, name) != vocabularies.end())
        return FileKind::Vocabulary;
    if (name.starts_with(".") || name.starts_with("readme") || name.starts_with("license")
        || name.starts_with("notice") || name.starts_with("use_policy")
        || std::ranges::find(leftOut, extension) != leftOut.end())
        return FileKind::LeftOut;
    if (extension == ".json")
        return FileKind::Config;
    return extension == ".py" || extension == ".txt" || extension == ".jinja" || extension == ".toml"
        ? FileKind::Text
        : FileKind::Weights;
}

// Where a library notes what a file was loaded from, which may be another name or a path of the person's.
std::string withoutOrigin(const std::string& text, const std::string& base)
{
    auto json = parseJson(text);
    if (!json || !json->is_object())
        return text;
    bool isChanged = false;
    for (const char* key : {"_name_or_path", "name_or_path"})
        isChanged = json->erase(key) > 0 || isChanged;
    if (json->contains("base_model_name_or_path")) {
        (*json)["base_model_name_or_path"] = base;
        isChanged = true;
    }
    return isChanged ? json->dump(2) + "\n" : text;
}

Status copyBytes(const fs::path& from, const fs::path& to)
{
    const UniqueFd in(::open(from.c_str(), O_RDONLY | O_CLOEXEC));
    const UniqueFd out(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, readable));
    if (!in.valid() || !out.valid())
        return failErrno("cannot copy", from.string(), errno);
    constexpr std::size_t piece = 1U << 30U;
    ssize_t copied = 0;
    while ((copied = ::copy_file_range(in.get(), nullptr, out.get(), nullptr, piece, 0)) > 0) { }
    if (copied == 0)
        return {};
    // Between file systems the kernel may not know how.
    std::error_code error;
    fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
    return error ? Status(failErrno("cannot copy", from.string(), error.value())) : Status();
}

// The beginning of weights is where formats keep their metadata.
Status placeWeights(const ModelSource::File& file, const Concealer& concealer, const fs::path& to)
{
    constexpr std::size_t head = 4U << 20U;
    const UniqueFd fd(::open(file.source.c_str(), O_RDONLY | O_CLOEXEC));
    std::string bytes(head, '\0');
    const ssize_t got = fd.valid() ? ::read(fd.get(), bytes.data(), bytes.size()) : -1;
    if (got < 0)
        return failErrno("cannot read", file.source.string(), errno);
    bytes.resize(static_cast<std::size_t>(got));
    if (concealer.finds(bytes))
        return fail("sandbox.cannot_hide",
            file.path + " names the model inside itself, so that it cannot be hidden",
            Json{{"field", "models"}, {"file", file.path}});
    if (::link(file.source.c_str(), to.c_str()) == 0)
        return {};
    return copyBytes(file.source, to);
}

Status placeText(const ModelSource::File& file, FileKind kind, const Concealer& concealer,
    const std::string& base, const fs::path& to)
{
    auto text = readFile(file.source, mostText);
    if (!text)
        return fail(text.error());
    const auto names = kind == FileKind::Vocabulary ? Concealer::Names::Whole : Concealer::Names::All;
    const std::string neutral =
        concealer.conceal(kind == FileKind::Config ? withoutOrigin(*text, base) : *text, names);
    return writeFileAtomic(to, neutral, readable);
}

} // namespace

std::map<std::string, std::string> hiddenAliases(const SandboxSpec& spec)
{
    std::map<std::string, std::string> aliases;
    int number = 0;
    for (const ModelSpec& model : spec.models) {
        if (!model.hidden)
            continue;
        const std::string alias = "hidden_" + std::to_string(++number);
        aliases.emplace(model.name, alias);
        if (model.isPeft && !model.baseModel.empty())
            aliases.emplace(model.baseModel, alias + "_base");
    }
    // Who shows a model elsewhere in the spec wants it seen.
    for (const ModelSpec& model : spec.models) {
        if (!model.hidden)
            aliases.erase(model.name);
    }
    return aliases;
}

Concealer concealerOf(const std::map<std::string, std::string>& aliases)
{
    Concealer concealer;
    for (const auto& [name, alias] : aliases)
        concealer.add(name, alias);
    return concealer;
}

std::vector<ModelSource::File> filesIn(const fs::path& folder)
{
    std::vector<ModelSource::File> files;
    std::error_code error;
    for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        std::error_code ignored;
        if (it->is_regular_file(ignored))
            files.push_back(
                {it->path().lexically_relative(folder).string(), fs::canonical(it->path(), ignored)});
    }
    return files;
}

Status makeNeutralFolder(const std::vector<ModelSource::File>& files, const Concealer& concealer,
    const std::string& base, const fs::path& folder)
{
    for (const ModelSource::File& file : files) {
        const FileKind kind = kindOf(file.path);
        if (kind == FileKind::LeftOut)
            continue;
        const fs::path to = folder / concealer.conceal(file.path);
        std::error_code error;
        fs::create_directories(to.parent_path(), error);
        if (error)
            return failErrno("cannot create folder", to.parent_path().string(), error.value());
        if (kind == FileKind::Weights)
            GB_TRY(placeWeights(file, concealer, to));
        else
            GB_TRY(placeText(file, kind, concealer, base, to));
    }
    return {};
}

} // namespace gb
