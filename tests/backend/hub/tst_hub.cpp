// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <map>

#include <QTest>

#include <backend/hub/hubcache.h>
#include <backend/hub/plan.h>
#include <backend/hub/safetensors.h>
#include <tests/support/temporary.h>

using namespace gb;
using namespace gb::hub;

namespace {

QString chosen(const std::vector<std::string>& paths, const FileChoice& choice = {})
{
    std::vector<RemoteFile> listing;
    for (const std::string& path : paths)
        listing.push_back({.path = path, .size = path.size(), .blobId = {}, .sha256 = {}, .xetHash = {}});
    QStringList names;
    for (const RemoteFile& file : choose(listing, choice))
        names.append(QString::fromStdString(file.path));
    return names.join(' ');
}

std::string safetensorsHeader(const std::string& tensors)
{
    return "{\"__metadata__\":{\"format\":\"pt\"}," + tensors + "}";
}

} // namespace

class TestHub : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void readsNames_data();
    void readsNames();
    void refusesPaths_data();
    void refusesPaths();
    void refusesClashes();
    void choosesFiles();
    void readsTheEnvironment();
    void readsSafetensors();
    void refusesSafetensors_data();
    void refusesSafetensors();
    void manyTensorsAreQuick();
    void readsAdapters();
    void writesTheLayout();
    void explainsAnswers();
};

void TestHub::readsNames_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("expected");
    const auto row = [](const char* text, const char* expected) { QTest::newRow(text) << text << expected; };
    row("gpt2", "gpt2@main");
    row("org/model-1.5_b", "org/model-1.5_b@main");
    row("org/model@refs/pr/3", "org/model@refs/pr/3");
    row("https://huggingface.co/org/model", "org/model@main");
    row("https://huggingface.co/org/model/tree/v2?x=1", "org/model@v2");
    row("https://huggingface.co/org/model/blob/main/config.json", "org/model@main");
    row("http://127.0.0.1:80/org/model/resolve/abc/a/b.bin", "org/model@abc");
    row("../../etc", "");
    row("org/..", "");
    row("a/b/c", "");
    row("org/mo--del", "");
    row("-rf", "");
    row("org/model@../x", "");
    row("org/model@-x", "");
    row("org/mo del", "");
    row("", "");
}

void TestHub::readsNames()
{
    QFETCH(QString, text);
    QFETCH(QString, expected);
    const auto name = ModelName::parse(text.toStdString());
    QCOMPARE(name ? QString::fromStdString(name->repo + "@" + name->revision) : QString(), expected);
}

void TestHub::refusesPaths_data()
{
    QTest::addColumn<QByteArray>("path");
    QTest::addColumn<bool>("good");
    const auto row = [](const char* name, QByteArray path, bool good) {
        QTest::newRow(name) << path << good;
    };
    row("plain", "config.json", true);
    row("folders", "onnx/sub dir/model.onnx", true);
    row("dots in names", "a..b/.hidden", true);
    row("unicode", "模型.json", true);
    row("up", "../x", false);
    row("up inside", "a/../../x", false);
    row("absolute", "/etc/passwd", false);
    row("backslash", "a\\..\\x", false);
    row("drive", "C:x", false);
    row("control", "a\nb", false);
    row("zero", QByteArray("a\0b", 3), false);
    row("dot", "./x", false);
    row("double slash", "a//b", false);
    row("slash at the end", "a/", false);
    row("empty", "", false);
    row("long part", QByteArray(256, 'x'), false);
}

void TestHub::refusesPaths()
{
    QFETCH(QByteArray, path);
    QFETCH(bool, good);
    QCOMPARE(checkPath(path.toStdString()).has_value(), good);
}

void TestHub::refusesClashes()
{
    QVERIFY(checkPaths({"a", "b/a", "b/c"}).has_value());
    QVERIFY(!checkPaths({"README.md", "readme.md"}).has_value());
    QVERIFY(!checkPaths({"a", "a/b"}).has_value());
    QVERIFY(!checkPaths({"x/Y/z", "x/y"}).has_value());
}

void TestHub::choosesFiles()
{
    QCOMPARE(chosen({"config.json", "model.safetensors", "pytorch_model.bin", "tf_model.h5",
                 "onnx/model.onnx", "tokenizer.model", "README.md", "pytorch_model.bin.index.json"}),
        "config.json model.safetensors tokenizer.model README.md");
    QCOMPARE(chosen({"config.json", "pytorch_model.bin", "flax_model.msgpack", "vocab.txt"}),
        "config.json pytorch_model.bin vocab.txt");
    QCOMPARE(chosen({"model.safetensors", "model.fp16.safetensors", "consolidated.safetensors"}),
        "model.safetensors");
    QCOMPARE(chosen({"model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors",
                 "model.safetensors.index.json", "consolidated.safetensors"}),
        "model-00001-of-00002.safetensors model-00002-of-00002.safetensors model.safetensors.index.json");
    QCOMPARE(
        chosen({"m-Q2_K.gguf", "m-Q4_K_M-00001-of-00002.gguf", "m-Q4_K_M-00002-of-00002.gguf", "README.md"}),
        "m-Q4_K_M-00001-of-00002.gguf m-Q4_K_M-00002-of-00002.gguf README.md");
    QCOMPARE(chosen({"adapter_config.json", "adapter_model.safetensors", "adapter_model.bin"}),
        "adapter_config.json adapter_model.safetensors");
    QCOMPARE(chosen({"a.bin", "b/c.onnx", "d.json"}, {.include = {"b/", "*.json"}}), "b/c.onnx d.json");
    QCOMPARE(chosen({"a.safetensors", "d.json"}, {.exclude = {"*.json"}}), "a.safetensors");
}

void TestHub::readsTheEnvironment()
{
    test::TemporaryFolder folder;
    std::map<std::string, std::string> variables{{"HOME", "/home/p"}};
    const auto read = [&] {
        return HubSettings::fromEnvironment([&](const char* name) { return variables[name]; });
    };
    QCOMPARE(read().cache, fs::path("/home/p/.cache/huggingface/hub"));
    QCOMPARE(read().endpoint, std::string("https://huggingface.co"));
    QVERIFY(!read().offline);
    variables["HF_HOME"] = folder.path();
    QCOMPARE(read().cache, folder.path() / "hub");
    QVERIFY(writeFileAtomic(folder.path() / "token", " from-file\n").has_value());
    QCOMPARE(read().token, std::string("from-file"));
    variables["HF_TOKEN"] = "from-variable";
    variables["HF_HUB_CACHE"] = "~/models";
    variables["HF_ENDPOINT"] = "https://mirror.example/";
    variables["HF_HUB_OFFLINE"] = "yes";
    variables["https_proxy"] = "http://proxy:1";
    QCOMPARE(read().token, std::string("from-variable"));
    QCOMPARE(read().cache, fs::path("/home/p/models"));
    QCOMPARE(read().endpoint, std::string("https://mirror.example"));
    QVERIFY(read().offline);
    QCOMPARE(read().network.httpsProxy, std::string("http://proxy:1"));
}

void TestHub::readsSafetensors()
{
    const std::string header =
        safetensorsHeader("\"w\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]},"
                          "\"b\":{\"dtype\":\"BF16\",\"shape\":[],\"data_offsets\":[24,26]}");
    const auto file = parseSafetensors(header, 8 + header.size() + 26);
    QVERIFY(file.has_value());
    QCOMPARE(file->parameters, std::uint64_t(7));
    QCOMPARE(QString::fromStdString(file->toJson()["tensors"].dump()),
        "[{\"name\":\"w\",\"dtype\":\"F32\",\"shape\":[2,3],\"bytes\":24},"
        "{\"name\":\"b\",\"dtype\":\"BF16\",\"shape\":[],\"bytes\":2}]");
    QCOMPARE(file->tensors[1].begin, 8 + header.size() + 24);
}

void TestHub::refusesSafetensors_data()
{
    QTest::addColumn<QString>("header");
    const auto row = [](const char* name, const char* header) { QTest::newRow(name) << header; };
    row("no JSON", "x");
    row("an array", "[1]");
    row("beyond the end", "{\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[100,104]}}");
    row("backwards", "{\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]}}");
    row("another size", "{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}");
    row("overflow", "{\"w\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904,4],\"data_offsets\":[0,0]}}");
    row("negative", "{\"w\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}");
    row("three offsets", "{\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4,4]}}");
    row("nested", "{\"w\":{\"dtype\":{},\"shape\":[1],\"data_offsets\":[0,4]}}");
}

void TestHub::refusesSafetensors()
{
    QFETCH(QString, header);
    QVERIFY(!parseSafetensors(header.toStdString(), 8 + static_cast<std::uint64_t>(header.size()) + 16));
}

void TestHub::manyTensorsAreQuick()
{
    std::string tensors;
    for (int i = 0; i < 50'000; ++i)
        tensors += (i ? ",\"t" : "\"t") + std::to_string(i)
            + "\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}";
    const std::string header = safetensorsHeader(tensors);
    // Quadratic look-ups would run into the test's time limit.
    QCOMPARE(parseSafetensors(header, 8 + header.size() + 1)->tensors.size(), std::size_t(50'000));
}

void TestHub::readsAdapters()
{
    QCOMPARE(*adapterBase("{\"peft_type\":\"LORA\",\"base_model_name_or_path\":\"org/base\"}"),
        std::string("org/base"));
    QCOMPARE(*adapterBase("{\"peft_type\":\"LORA\"}"), std::string());
    QVERIFY(!adapterBase("nonsense"));
}

void TestHub::writesTheLayout()
{
    test::TemporaryFolder folder;
    const HubCache cache(folder.path() / "hub");
    const std::string commit(40, 'a');
    const RemoteFile file{"sub/model.safetensors", 3, std::string(40, 'b'), std::string(64, 'c'), {}};
    QVERIFY(cache.prepare("org/m").has_value());
    QVERIFY(writeFileAtomic(cache.partial("org/m", file.etag()), "xyz").has_value());
    QVERIFY(cache.publishBlob("org/m", file.etag()).has_value());
    QVERIFY(cache.hasBlob("org/m", file));
    QVERIFY(cache.link("org/m", commit, file).has_value());
    QVERIFY(cache.isLinked("org/m", commit, file));
    const fs::path link = folder.path() / "hub/models--org--m/snapshots" / commit / "sub/model.safetensors";
    QCOMPARE(fs::read_symlink(link), fs::path("../../../blobs") / file.etag());
    QVERIFY(cache.writeRef("org/m", "refs/pr/1", commit).has_value());
    QCOMPARE(*readFile(folder.path() / "hub/models--org--m/refs/refs/pr/1"), commit);
    QCOMPARE(*cache.readRef("org/m", "refs/pr/1"), commit);
    QVERIFY(!cache.writeRef("org/m", "../../../x", commit).has_value());
    QVERIFY(cache.writeTree("org/m", commit, {file}).has_value());
    QCOMPARE(cache.readTree("org/m", commit)->at(0).etag(), file.etag());
    QVERIFY(cache.markMissing("org/m", commit, "added_tokens.json").has_value());
    QVERIFY(fs::exists(folder.path() / "hub/models--org--m/.no_exist" / commit / "added_tokens.json"));
    const auto lock = cache.tryLock("org/m", file.etag());
    QVERIFY(lock && *lock);
    QVERIFY(!*cache.tryLock("org/m", file.etag()));
}

void TestHub::explainsAnswers()
{
    const auto code = [](int status, const char* errorCode, const char* message = "") {
        return hubError({"http." + std::to_string(status), "",
                            Json{{"status", status}, {"error_code", errorCode}, {"error_message", message}}},
            "org/m", "page")
            .code;
    };
    QCOMPARE(code(403, "GatedRepo"), std::string("hub.gated"));
    QCOMPARE(code(404, "RevisionNotFound"), std::string("hub.revision_not_found"));
    QCOMPARE(code(404, "EntryNotFound"), std::string("hub.file_not_found"));
    QCOMPARE(code(401, ""), std::string("hub.model_not_found"));
    QCOMPARE(code(401, "", "Invalid credentials in Authorization header"), std::string("hub.bad_token"));
    QCOMPARE(code(403, "", "no"), std::string("hub.forbidden"));
    QCOMPARE(code(429, ""), std::string("hub.rate_limited"));
    QCOMPARE(code(502, ""), std::string("hub.unavailable"));
}

QTEST_GUILESS_MAIN(TestHub)
#include "tst_hub.moc"
