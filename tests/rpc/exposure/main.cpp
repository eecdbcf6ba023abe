// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0
//
// For the tests in Python: reads one schema per line, writes what becomes of it as one JSON line each.
// glovebox-test-expose library|mcp|prompt|skill [URL TOKEN]

#include <iostream>
#include <string>

#include <rpc/exposure/exposure.h>
#include <rpc/exposure/library.h>

using namespace gb;

int main(int argc, char** argv)
{
    rpc::ExposeSpec spec;
    const auto as = argc > 1 ? rpc::exposeAs(argv[1]) : std::nullopt;
    if (!as) {
        std::cout << rpc::libraryRuntime();
        return 0;
    }
    spec.as = *as;
    spec.url = argc > 2 ? argv[2] : "";
    spec.token = argc > 3 ? argv[3] : "";
    for (std::string line; std::getline(std::cin, line);) {
        const auto schema = parseJson(line);
        if (!schema) {
            std::cerr << schema.error().message << '\n';
            return 1;
        }
        const auto exposure = rpc::expose(*schema, spec);
        const Json out = exposure ? exposure->toJson() : Json{{"error", exposure.error().toJson()}};
        std::cout << out.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
    }
    return 0;
}
