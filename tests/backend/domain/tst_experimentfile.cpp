// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QTest>

#include <backend/domain/experimentfile.h>
#include <backend/domain/tomltext.h>

using namespace gb;

namespace {

const char* const sample = R"(# My experiment: «größe»
id = "0190-x"
title = "Ünïcode"   # kept

[sandbox]
# what it runs on
python_version = "3.11"      # Debian's
memory = "8 GiB"
python_packages = [
    "torch",   # the big one
    "numpy",
]
env = { A = "1" }
future_key = 2030-01-01

[sandbox.tags]
team = "probing"

# the model under test
[[sandbox.models]]
name = "google/gemma-2-9b"   # nine billion
hidden = true

# the base
[[sandbox.models]]
name = "o/base"

[agent]  # not ours
turns = 5
)";

std::string replaced(std::string text, const std::string& from, const std::string& to)
{
    const auto at = text.find(from);
    return at == std::string::npos ? "not found: " + from : text.replace(at, from.size(), to);
}

} // namespace

class TestExperimentFile : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void nothingChangedMeansNotAByte()
    {
        const auto spec = sandboxSpecFromToml(sample);
        QVERIFY2(spec.has_value(), spec ? "" : spec.error().message.c_str());
        QCOMPARE(*withSandboxSpec(sample, *spec), std::string(sample));
        QCOMPARE(spec->memory, std::int64_t(8) << 30);
        QVERIFY(spec->unknown.contains("future_key"));
    }

    void onlyTheChangedValueIsTouched()
    {
        auto spec = *sandboxSpecFromToml(sample);
        spec.pythonVersion = "3.12";
        QCOMPARE(*withSandboxSpec(sample, spec),
            replaced(sample, "python_version = \"3.11\" ", "python_version = \"3.12\" "));
        spec = *sandboxSpecFromToml(sample);
        spec.models[0].hidden = false;
        QCOMPARE(*withSandboxSpec(sample, spec), replaced(sample, "hidden = true\n", ""));
        spec = *sandboxSpecFromToml(sample);
        spec.tags["team"] = "a \"quoted\" one";
        QCOMPARE(*withSandboxSpec(sample, spec),
            replaced(sample, "team = \"probing\"", "team = \"a \\\"quoted\\\" one\""));
        spec = *sandboxSpecFromToml(sample);
        spec.env["B"] = "2";
        QCOMPARE(
            *withSandboxSpec(sample, spec), replaced(sample, "{ A = \"1\" }", "{ A = \"1\", B = \"2\" }"));
    }

    void fieldsComeAndGo()
    {
        auto spec = *sandboxSpecFromToml(sample);
        spec.timeout = 60;
        spec.memory = 0;
        const auto text = *withSandboxSpec(sample, spec);
        QCOMPARE(text,
            replaced(replaced(sample, "memory = \"8 GiB\"\n", ""), "future_key = 2030-01-01\n",
                "future_key = 2030-01-01\ntimeout = 60\n"));
        QCOMPARE(*withSandboxSpec("", SandboxSpec()), std::string());
        spec = SandboxSpec();
        spec.gpu = "A100";
        QCOMPARE(*withSandboxSpec("# mine\nid = 1\n", spec),
            std::string("# mine\nid = 1\n\n[sandbox]\ngpu = \"A100\"\n"));
    }

    void listsOfTablesGrowAndShrink()
    {
        auto spec = *sandboxSpecFromToml(sample);
        spec.models.pop_back();
        const auto fewer = *withSandboxSpec(sample, spec);
        QVERIFY(fewer.find("o/base") == std::string::npos);
        QVERIFY(fewer.find("# nine billion") != std::string::npos);
        QVERIFY(fewer.find("[agent]  # not ours\nturns = 5") != std::string::npos);
        spec.models.push_back({});
        spec.models.back().name = "o/second";
        spec.repos.push_back({"org/repo", "", "make"});
        const auto more = *withSandboxSpec(fewer, spec);
        QVERIFY(*sandboxSpecFromToml(more) == spec);
        QVERIFY(more.find("# what it runs on") != std::string::npos);
        spec.models.clear();
        const auto none = withSandboxSpec(more, spec);
        QVERIFY2(none.has_value(), none ? "" : none.error().message.c_str());
        QVERIFY2(sandboxSpecFromToml(*none)->models.empty(), none->c_str());
    }

    void anyChangeMeansWhatWasMeant()
    {
        // Every field, changed on its own, in three different files.
        const auto other =
            SandboxSpec::fromJson(*parseJson(R"({"name": "n", "provider": "modal", "python_version":
            "3.9", "python_packages": ["a"], "system_packages": ["git"], "notebook_packages": [], "gpu": "T4",
            "gpu_count": 3, "cpu": 2.0, "memory": 1000000000, "disk": 2000000000, "timeout": 9, "idle_timeout": 8,
            "spend_cap": 1.25, "docker_in_docker": true, "execution_mode": "none", "debug": true, "secrets": ["S"],
            "env": {"X Y": "z"}, "tags": {"k.k": "v"}, "network": ["a.b"], "encrypted_ports": [1],
            "jupyter_port": 2, "rpc_port": 3, "debug_port": 4, "rpc_timeout": 5, "wait_timeout": 6,
            "models": ["x/y"], "repos": ["q/r"], "local_files": [["a", "/w/a"]], "local_dirs": [["d", "/w/d"]]})"));
        QVERIFY(!other.has_value()); // "X Y" is no variable: the wrong is found …
        auto json = SandboxSpec().toJson();
        json["env"] = Json{{"XY", "z\n\x7f"}};
        json["models"] = Json::array({Json{{"name", "x/y"}}});
        json["local_dirs"] = Json::array({Json::array({"d", "/w/d"})});
        json["network"] = Json::array({"a.b"});
        json["tags"] = Json{{"k.k", "v"}};
        json["timeout"] = 9;
        json["execution_mode"] = "none";
        for (const char* text : {"", sample, "sandbox = { gpu = \"T4\" } # inline\n"}) {
            const Json before = sandboxSpecFromToml(text)->toJson();
            for (const auto& [field, value] : json.items()) {
                Json one = before;
                one[field] = value;
                const auto spec = SandboxSpec::fromJson(one);
                QVERIFY2(spec.has_value(), spec ? "" : spec.error().message.c_str());
                const auto edited = withSandboxSpec(text, *spec);
                QVERIFY2(edited.has_value(), (field + ": " + (edited ? "" : edited.error().message)).c_str());
                const auto read = sandboxSpecFromToml(*edited);
                QVERIFY2(read.has_value(), edited->c_str());
                QVERIFY2(*read == *spec, (field + " in\n" + *edited).c_str());
            }
        }
    }

    void brokenFilesSayWhere()
    {
        const auto broken = sandboxSpecFromToml("a = 1\nb = = 2\n");
        QCOMPARE(broken.error().code, std::string("toml.syntax"));
        QCOMPARE(broken.error().data["line"].get<int>(), 2);
        QCOMPARE(sandboxSpecFromToml("sandbox = 5").error().code, std::string("spec.invalid"));
    }

    void aFileThatIsWrongCanStillBeRepaired()
    {
        const std::string wrong = "[sandbox]\ngpu_count = 99 # oops\n";
        QVERIFY(!sandboxSpecFromToml(wrong).has_value());
        const auto repaired = withSandboxSpec(wrong, SandboxSpec());
        QVERIFY(repaired.has_value());
        QCOMPARE(*repaired, std::string("[sandbox]\ngpu_count = 1 # oops\n"));
    }
};

QTEST_GUILESS_MAIN(TestExperimentFile)
#include "tst_experimentfile.moc"
