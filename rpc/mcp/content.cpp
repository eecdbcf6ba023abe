// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "content.h"

#include <algorithm>
#include <iterator>

#include "message.h"

namespace gb::rpc {
namespace {

Json textBlock(std::string text)
{
    return Json{{"type", "text"}, {"text", std::move(text)}};
}

// {"image": "png", "data": "<base64>"} and nothing else.
bool isImage(const Json& value)
{
    static constexpr std::string_view formats[] = {"png", "jpeg", "jpg", "gif", "webp", "bmp"};
    if (!value.is_object() || value.size() != 2 || !value.contains("data") || !value["data"].is_string())
        return false;
    const std::string format = stringOr(value, "image");
    return std::find(std::begin(formats), std::end(formats), format) != std::end(formats);
}

Json imageBlock(const Json& value)
{
    const std::string format = stringOr(value, "image");
    return Json{{"type", "image"}, {"data", value["data"]},
        {"mimeType", "image/" + (format == "jpg" ? "jpeg" : format)}};
}

// Moves images out of a value into blocks of their own; the value says where they went.
void takeImages(Json& value, Json& blocks)
{
    if (isImage(value)) {
        blocks.push_back(imageBlock(value));
        value["data"] = "shown as image " + std::to_string(blocks.size());
    } else if (value.is_structured()) {
        for (Json& item : value)
            takeImages(item, blocks);
    }
}

struct Content
{
    Json blocks = Json::array();
    std::string value; // the result as JSON text, without image data
};

Content contentOf(const std::string& result)
{
    Content content;
    content.value = result;
    const bool maybeImages = result.find("\"image\"") != std::string::npos;
    Json value = maybeImages || result.starts_with('"') ? Json::parse(result, nullptr, false) : Json();
    if (value.is_string()) {
        content.blocks.push_back(textBlock(value.get<std::string>()));
        return content;
    }
    Json images = Json::array();
    const bool severalBlocks = value.is_array() && std::any_of(value.begin(), value.end(), isImage);
    const bool oneImage = isImage(value);
    Json items = severalBlocks ? value : Json::array();
    takeImages(value, images);
    if (images.empty()) {
        content.blocks.push_back(textBlock(result));
        return content;
    }
    content.value = mcpText(value);
    if (severalBlocks) {
        for (Json& item : items)
            content.blocks.push_back(isImage(item) ? imageBlock(item)
                    : item.is_string()             ? textBlock(item.get<std::string>())
                                                   : textBlock(mcpText(item)));
        return content;
    }
    if (!oneImage)
        content.blocks.push_back(textBlock(content.value));
    for (Json& image : images)
        content.blocks.push_back(std::move(image));
    return content;
}

std::string errorText(const Json& error)
{
    const std::string type = stringOr(error, "type");
    const std::string message = stringOr(error, "message");
    const std::string traceback = stringOr(error, "traceback");
    std::string text =
        stringOr(error, "kind") == "function_error" && !type.empty() ? type + ": " + message : message;
    return traceback.empty() ? text : text + "\n\n" + traceback;
}

} // namespace

std::string toolResult(const Tool& tool, const McpOutcome& outcome, bool stateless)
{
    std::string text = stateless ? R"({"resultType":"complete",)" : "{";
    if (!outcome.error.is_null())
        return text + "\"content\":" + mcpText(Json::array({textBlock(errorText(outcome.error))}))
            + ",\"isError\":true}";
    const Content content = contentOf(outcome.result);
    text += "\"content\":" + mcpText(content.blocks);
    if (tool.wrapped)
        text += R"(,"structuredContent":{"result":)" + content.value + "}";
    else if (content.value.starts_with('{'))
        text += ",\"structuredContent\":" + content.value;
    return text + ",\"isError\":false}";
}

} // namespace gb::rpc
