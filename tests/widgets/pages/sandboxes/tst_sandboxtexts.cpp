// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QProcess>
#include <QTest>

#include <backend/base/json.h>
#include <backend/domain/sandboxspec.h>
#include <widgets/pages/sandboxes/packages.h>
#include <widgets/pages/sandboxes/pythonscript.h>

using namespace gb;
using namespace gb::ui;

// Texts that go in by the clipboard and out by it.
class SandboxTextsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void pastedPackages_data();
    void pastedPackages();
    void copiesAsPython();
    void nothingCopiedBecomesCode();
};

void SandboxTextsTest::pastedPackages_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QStringList>("packages");
    QTest::addColumn<QStringList>("leftOut");
    const auto row = [](const char* name, const char* text, const QStringList& packages,
                         const QStringList& left) {
        QTest::newRow(name) << QString::fromLatin1(text) << packages << left;
    };
    const auto s = [](const char* text) { return QString::fromLatin1(text); };
    row("requirements", "# ours\nnumpy>=1.26,<3  # fast\n\ntorch==2.1.0 --hash=sha256:ab\n-r more.txt\n",
        {s("numpy>=1.26,<3"), s("torch==2.1.0")}, {s("-r more.txt")});
    row("pip",
        "$ python3 -m pip install -U 'numpy>=1' \"transformers[torch]\" --index-url https://x.example/s",
        {s("numpy>=1"), s("transformers[torch]")}, {s("-U"), s("--index-url https://x.example/s")});
    row("uv", "uv pip install einops", {s("einops")}, {});
    row("continued", "!pip install a \\\n b", {s("a"), s("b")}, {});
    row("names", "numpy, scipy,einops", {s("numpy"), s("scipy"), s("einops")}, {});
    row("spaces", "numpy scipy==1.2", {s("numpy scipy==1.2")}, {});
    row("pins", "numpy==1.1 scipy==1.2", {s("numpy==1.1"), s("scipy==1.2")}, {});
    row("marker", "tomli>=2; python_version < '3.11'", {s("tomli>=2; python_version < '3.11'")}, {});
    row("nothing", " \n# only this\n", {}, {});
}

void SandboxTextsTest::pastedPackages()
{
    QFETCH(QString, text);
    QFETCH(QStringList, packages);
    QFETCH(QStringList, leftOut);
    const auto read = readPackages(text);
    QCOMPARE(read.packages, packages);
    QCOMPARE(read.leftOut, leftOut);
}

void SandboxTextsTest::copiesAsPython()
{
    const Json defaults = SandboxSpec().toJson();
    const Json simple{
        {"scoped", true}, {"python_packages", Json::array({"numpy"})}, {"memory", 1 << 30}, {"gpu", nullptr}};
    QCOMPARE(pythonScript(simple, defaults, {}),
        QStringLiteral("from glovebox.environment import SandboxConfig, ScopedSandbox\n\n"
                       "scoped = ScopedSandbox(SandboxConfig(\n    python_packages=[\"numpy\"],\n"
                       "    memory=1073741824,\n))\nscoped.start()\ntry:\n"
                       "    tools = scoped.serve(\"interface.py\", expose_as=\"library\", "
                       "name=\"model_tools\")\n    print(tools.get_prompt_docs())\n"
                       "finally:\n    scoped.terminate()\n"));
    const Json full{{"name", "a \"b\""}, {"models", Json::array({{{"name", "x/y"}, {"hidden", true}}})},
        {"execution_mode", "notebook"}, {"network", "off"}, {"env", {{"A", "1 %1"}}},
        {"local_files", Json::array({Json::array({"data/x", "/workspace/x"})})}, {"of_tomorrow", nullptr},
        {"new", Json::array({1, nullptr, true})},
        {"local_dirs",
            Json::array({{{"local", "/srv"}, {"inside", "/workspace/srv"}, {"mode", "writable"}}})}};
    QCOMPARE(pythonScript(full, defaults, QStringLiteral("/home/ada/box")),
        QStringLiteral(
            "from glovebox.environment import ExecutionMode, ModelConfig, Mount, Sandbox, "
            "SandboxConfig\n\nsandbox = Sandbox(SandboxConfig(\n"
            "    models=[ModelConfig(name=\"x/y\", hidden=True)],\n"
            "    execution_mode=ExecutionMode.NOTEBOOK,\n    network=\"off\",\n"
            "    env={\"A\": \"1 %1\"},\n"
            "    local_files=[(\"/home/ada/box/data/x\", \"/workspace/x\")],\n"
            "    local_dirs=[\n        Mount(local=\"/srv\", inside=\"/workspace/srv\", "
            "mode=\"writable\"),\n    ],\n    unknown={\"new\": [1, None, True]},\n))\n"
            "sandbox.start(name=\"a \\\"b\\\"\")\ntry:\n"
            "    print(sandbox.exec(\"python3 --version\"))\nfinally:\n    sandbox.terminate()\n"));
}

// The script says what Python reads out of it: the name, the environment and the models.
void SandboxTextsTest::nothingCopiedBecomesCode()
{
    const std::string nasty =
        "\"\"\"); print('gotcha') #\\\n\r\t\x01\x7f \u2028 \U0001f600 %1 %2 {x} \\N{BULLET}";
    const Json values{{"scoped", true}, {"name", nasty}, {"env", {{nasty, nasty}}},
        {"models",
            Json::array({{{"name", nasty}}, {{"name", "x/y"}, {"hidden=print('gotcha')", true}}, "x/y"})},
        {"of_tomorrow", {{nasty, Json::array({nasty, nullptr, 1e300})}}}};
    QProcess python;
    python.start(QStringLiteral("python3"),
        {QStringLiteral("-I"), QStringLiteral("-c"),
            QStringLiteral(
                "import ast, json, sys\n"
                "tree = ast.parse(sys.stdin.buffer.read())\n"
                "calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call)]\n"
                "named = {getattr(c.func, 'id', getattr(c.func, 'attr', '')): c for c in calls}\n"
                "said = {k.arg: k.value for n in ('start', 'SandboxConfig') for k in named[n].keywords}\n"
                "models = [m.keywords[0].value if isinstance(m, ast.Call) else m for m in "
                "said.pop('models').elts]\n"
                "said = {k: ast.literal_eval(v) for k, v in said.items()}\n"
                "said['models'] = [ast.literal_eval(m) for m in models]\n"
                "said['calls'] = sorted(named)\n"
                "print(json.dumps(said))")});
    python.write(pythonScript(values, SandboxSpec().toJson(), QStringLiteral("/home/a \"b\"")).toUtf8());
    python.closeWriteChannel();
    QVERIFY(python.waitForFinished(60'000));
    const auto said = parseJson(python.readAllStandardOutput().toStdString());
    QVERIFY2(said, python.readAllStandardError().constData());
    const Json meant{{"name", nasty}, {"env", values["env"]},
        {"unknown", {{"of_tomorrow", values["of_tomorrow"]}}},
        {"models", Json::array({nasty, values["models"][1], "x/y"})},
        {"calls",
            Json::array({"ModelConfig", "SandboxConfig", "ScopedSandbox", "get_prompt_docs", "print", "serve",
                "start", "terminate"})}};
    QVERIFY2(*said == meant, said->dump().c_str());
}

QTEST_GUILESS_MAIN(SandboxTextsTest)
#include "tst_sandboxtexts.moc"
