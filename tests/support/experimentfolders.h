// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <backend/experiments/experimenttext.h>

#include "fakedaemon.h"

namespace gb::test {

// What the daemon says of an experiment's file as it is now.
inline void tellExperiment(FakeDaemon& daemon, const std::string& folder, const Json& env = Json::array())
{
    Json item{{"id", folder}, {"path", folder + "/experiment.toml"}, {"etag", ""}, {"env", env}};
    if (const auto read = readExperimentText(folder, "experiment.toml"))
        item["etag"] = read->etag;
    else
        item["error"] = read.error().toJson();
    daemon.setItem("experiments", folder, item);
}

// The fake daemon reads and writes the files of experiments as the real one does; it follows none.
inline void serveExperiments(FakeDaemon& daemon)
{
    const auto answer = [](const Result<ExperimentText>& done) -> Result<api::Answer> {
        if (!done)
            return fail(done.error());
        return api::Answer{
            Json{{"path", done->path.string()}, {"text", done->text}, {"etag", done->etag}}, {}};
    };
    daemon.on("experiments.read", [answer](const Json& params, const std::string&) {
        return answer(readExperimentText(stringOr(params, "experiment"), "experiment.toml"));
    });
    daemon.on("experiments.write", [answer](const Json& params, const std::string&) {
        return answer(writeExperimentText(stringOr(params, "experiment"), "experiment.toml",
            stringOr(params, "text"), stringOr(params, "etag")));
    });
}

} // namespace gb::test
