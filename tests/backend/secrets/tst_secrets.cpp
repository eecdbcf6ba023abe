// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QTemporaryDir>
#include <QTest>

#include <backend/secrets/secretstore.h>

using namespace gb;

namespace {

// What a desktop's key store does, without one.
class FakeKeyStore final : public KeyStore
{
public:
    explicit FakeKeyStore(std::map<std::string, std::string>* entries, std::string refusal = {})
        : m_entries(entries), m_refusal(std::move(refusal))
    { }

    void write(const std::string& name, const std::string& value, std::function<void(Status)> done) override
    {
        if (!m_refusal.empty())
            return done(fail(m_refusal, "no"));
        (*m_entries)[name] = value;
        done({});
    }
    void read(const std::string& name, std::function<void(Result<std::string>)> done) override
    {
        if (const auto found = m_entries->find(name); found != m_entries->end())
            done(found->second);
        else
            done(fail("secrets.unknown", "no"));
    }
    void remove(const std::string& name, std::function<void(Status)> done) override
    {
        done(m_entries->erase(name) > 0 ? Status() : fail("secrets.unknown", "no"));
    }

private:
    std::map<std::string, std::string>* m_entries;
    std::string m_refusal;
};

} // namespace

class TestSecrets : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void keepsThemInAFileOfOurs();
    void keepsThemInTheKeyStore();
    void refusalOfThePersonIsNotWorkedAround();
    void refusesNamesAndValues();
    void refusesAFileOthersMayRead();
    void listHasNoValues();

private:
    fs::path file() const { return fs::path(m_folder->path().toStdString()) / "secrets.json"; }
    std::unique_ptr<SecretStore> store(std::string refusal = {}, bool keyStore = true);
    static std::string set(SecretStore& store, const std::string& name, const std::string& value);
    static std::string clear(SecretStore& store, const std::string& name);

    std::unique_ptr<QTemporaryDir> m_folder;
    std::map<std::string, std::string> m_keys;
};

void TestSecrets::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    m_keys.clear();
}

std::unique_ptr<SecretStore> TestSecrets::store(std::string refusal, bool keyStore)
{
    std::unique_ptr<KeyStore> keys;
    if (keyStore)
        keys = std::make_unique<FakeKeyStore>(&m_keys, std::move(refusal));
    auto opened = SecretStore::open(file(), std::move(keys));
    return opened ? std::move(*opened) : nullptr;
}

std::string TestSecrets::set(SecretStore& store, const std::string& name, const std::string& value)
{
    std::string code = "unanswered";
    store.set(name, value, [&code](const Status& status) { code = status ? "" : status.error().code; });
    return code;
}

std::string TestSecrets::clear(SecretStore& store, const std::string& name)
{
    std::string code = "unanswered";
    store.clear(name, [&code](const Status& status) { code = status ? "" : status.error().code; });
    return code;
}

void TestSecrets::keepsThemInAFileOfOurs()
{
    // Without a key store, with one that does not work, and where it is not wanted.
    for (const int kind : {0, 1, 2}) {
        const auto first = store(kind == 1 ? "secrets.no_key_store" : "", kind > 0);
        first->useKeyStore(kind != 2);
        QCOMPARE(set(*first, "HF_TOKEN", "hf_word"), std::string());
        QCOMPARE(first->value("HF_TOKEN"), std::string("hf_word"));
        QCOMPARE(fs::status(file()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
        const auto again = store();
        QCOMPARE(again->value("HF_TOKEN"), std::string("hf_word"));
        QCOMPARE(stringOr(again->list()["secrets"][0], "store"), std::string("file"));
        QCOMPARE(clear(*again, "HF_TOKEN"), std::string());
        QCOMPARE(store()->value("HF_TOKEN"), std::string());
        QCOMPARE(clear(*again, "HF_TOKEN"), std::string("secrets.unknown"));
    }
}

void TestSecrets::keepsThemInTheKeyStore()
{
    QCOMPARE(set(*store(), "HF_TOKEN", "hf_word"), std::string());
    QCOMPARE(m_keys["HF_TOKEN"], std::string("hf_word"));
    QVERIFY(readFile(file())->find("hf_word") == std::string::npos);
    const auto again = store();
    QCOMPARE(again->value("HF_TOKEN"), std::string("hf_word"));
    QCOMPARE(again->values().size(), std::size_t(1));
    QCOMPARE(stringOr(again->list()["secrets"][0], "store"), std::string("key_store"));
    // Somebody took it out of the key store: it is still listed, as one whose value is not known.
    m_keys.clear();
    const auto robbed = store();
    QCOMPARE(boolOr(robbed->list()["secrets"][0], "known", true), false);
    QCOMPARE(clear(*robbed, "HF_TOKEN"), std::string());
    QVERIFY(robbed->list()["secrets"].empty());
}

void TestSecrets::refusalOfThePersonIsNotWorkedAround()
{
    const auto denied = store("secrets.denied");
    QCOMPARE(set(*denied, "HF_TOKEN", "hf_word"), std::string("secrets.denied"));
    QVERIFY(denied->value("HF_TOKEN").empty());
    QVERIFY(!fs::exists(file()));
}

void TestSecrets::refusesNamesAndValues()
{
    const auto secrets = store();
    QCOMPARE(set(*secrets, "A_B1", "x"), std::string());
    QCOMPARE(set(*secrets, "", "x"), std::string("secrets.name"));
    QCOMPARE(set(*secrets, "A=b", "x"), std::string("secrets.name"));
    QCOMPARE(set(*secrets, "LD_PRELOAD", "x"), std::string("secrets.name"));
    QCOMPARE(set(*secrets, "A", ""), std::string("secrets.value"));
    QCOMPARE(set(*secrets, "A", std::string("a\0b", 3)), std::string("secrets.value"));
    QCOMPARE(set(*secrets, "A", std::string(1U << 20U, 'x')), std::string("secrets.value"));
    QCOMPARE(secrets->values().size(), std::size_t(1));
}

void TestSecrets::refusesAFileOthersMayRead()
{
    QCOMPARE(set(*store({}, false), "HF_TOKEN", "hf_word"), std::string());
    QVERIFY(store());
    fs::permissions(file(), fs::perms::group_read, fs::perm_options::add);
    QVERIFY(!store());
}

void TestSecrets::listHasNoValues()
{
    const auto secrets = store({}, false);
    QCOMPARE(set(*secrets, "HF_TOKEN", "hf_word"), std::string());
    QVERIFY(readFile(file())->find("hf_word") != std::string::npos); // it is searched for in the right form
    QVERIFY(secrets->list().dump().find("hf_word") == std::string::npos);
}

QTEST_GUILESS_MAIN(TestSecrets)
#include "tst_secrets.moc"
