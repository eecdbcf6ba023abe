// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include <backend/base/files.h>
#include <tests/support/livedaemon.h>
#include <tests/support/picture.h>
#include <widgets/controls/banner.h>
#include <widgets/controls/lookstore.h>
#include <widgets/controls/splitter.h>
#include <widgets/controls/theme.h>
#include <widgets/itemmodels/machinefindings.h>
#include <widgets/pages/settings/settingspage.h>

using namespace gb;
using namespace gb::ui;

// The page on a real daemon.
class SettingsPageTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void cleanupTestCase();
    void keepsASecretAndForgetsIt();
    void refusesAName();
    void remembersTheLanguage();
    void usesTheRoom();

private:
    bool waitFor(const std::function<bool()>& condition) { return QTest::qWaitFor(condition, 20'000); }
    bool shows(const QString& text) const;
    QLineEdit* field(const char* name) const
    {
        return m_page->findChild<QLineEdit*>(QString::fromLatin1(name));
    }
    fs::path file() const { return fs::path(m_folder.path().toStdString()) / "secrets.json"; }

    QTemporaryDir m_folder;
    std::unique_ptr<api::Client> m_client;
    std::unique_ptr<SettingsPage> m_page;
};

void SettingsPageTest::initTestCase()
{
    m_client = test::liveClient(m_folder.path());
    setRememberedFile(m_folder.filePath(QStringLiteral("window.ini")));
    Theme::instance().apply({Scheme::Light});
    m_client->open();
    // The desktop of whoever runs this keeps its own.
    bool set = false;
    m_client->call(this, "settings.set", {{"key", "secrets.key_store"}, {"value", false}},
        [&set](const auto& answer) { set = answer.has_value(); });
    QVERIFY(waitFor([&set] { return set; }));
    m_page = std::make_unique<SettingsPage>(*m_client, std::make_shared<MachineFindings>(*m_client));
    m_page->resize(1200, 760);
    m_page->show();
    QVERIFY(waitFor([this] { return m_page->settled(); }));
}

void SettingsPageTest::cleanupTestCase()
{
    m_page.reset();
    QVERIFY(test::endLive(m_client));
}

bool SettingsPageTest::shows(const QString& text) const
{
    const auto labels = m_page->findChildren<QLabel*>();
    return std::ranges::any_of(
        labels, [&](const QLabel* label) { return label->isVisible() && label->text().contains(text); });
}

void SettingsPageTest::keepsASecretAndForgetsIt()
{
    QVERIFY(shows(QStringLiteral("Not set here")));
    field("HF_TOKEN")->setText(QStringLiteral(" hf_word "));
    QTest::keyClick(field("HF_TOKEN"), Qt::Key_Return);
    QVERIFY(waitFor([this] { return shows(QStringLiteral("in a file that only you may read")); }));
    QVERIFY(readFile(file())->find("\"hf_word\"") != std::string::npos);
    // It does not come back into the field.
    QVERIFY(field("HF_TOKEN")->text().isEmpty());
    gb::test::picture(*m_page, QStringLiteral("settings-secret"));
    for (auto* button : m_page->findChildren<QToolButton*>())
        if (button->accessibleName() == QLatin1String("Forget HF_TOKEN") && button->isVisible())
            button->click();
    QVERIFY(waitFor([this] { return shows(QStringLiteral("Not set here")); }));
    QVERIFY(readFile(file())->find("hf_word") == std::string::npos);
}

void SettingsPageTest::refusesAName()
{
    auto* banner = m_page->findChild<Banner*>();
    field("new-secret")->setText(QStringLiteral("PATH"));
    QTest::keyClick(field("new-secret"), Qt::Key_Return);
    QVERIFY(banner->isVisible());
    QCOMPARE(banner->tone(), Tone::Error);
    QVERIFY(!field("PATH"));
    field("new-secret")->setText(QStringLiteral("MY_KEY"));
    QTest::keyClick(field("new-secret"), Qt::Key_Return);
    QVERIFY(waitFor([this] { return field("MY_KEY") != nullptr; }));
}

void SettingsPageTest::remembersTheLanguage()
{
    auto* combo = m_page->findChild<QComboBox*>(QStringLiteral("language"));
    QVERIFY(rememberedLanguage().isEmpty());
    combo->addItem(QStringLiteral("Deutsch"), QStringLiteral("de"));
    combo->setCurrentIndex(combo->count() - 1);
    Q_EMIT combo->activated(combo->currentIndex());
    QCOMPARE(rememberedLanguage(), QStringLiteral("de"));
}

void SettingsPageTest::usesTheRoom()
{
    // The setting of the service stands below the window's own, or beside them.
    const auto place = [this](const QString& heading) {
        for (const auto* label : m_page->findChildren<QLabel*>())
            if (label->text() == heading && label->isVisible())
                return label->mapTo(m_page.get(), QPoint());
        return QPoint(-1, -1);
    };
    m_page->resize(1000, 1100);
    QTRY_COMPARE(place(QStringLiteral("Service")).x(), place(QStringLiteral("Appearance")).x());
    gb::test::picture(*m_page, QStringLiteral("settings-narrow"));
    m_page->resize(1800, 1100);
    QTRY_COMPARE(place(QStringLiteral("Service")).y(), place(QStringLiteral("Appearance")).y());
    gb::test::picture(*m_page, QStringLiteral("settings-wide"));
}

QTEST_MAIN(SettingsPageTest)
#include "tst_settingspage.moc"
