// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "sandboxform.h"

#include <QApplication>
#include <QClipboard>
#include <QDir>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QMimeData>
#include <QPushButton>
#include <QVBoxLayout>

#include <widgets/controls/buttons.h>
#include <widgets/controls/theme.h>
#include <widgets/forms/recordsfield.h>
#include <widgets/forms/tokensfield.h>
#include <widgets/forms/valuefields.h>
#include <widgets/itemmodels/fields.h>

#include "experimentfile.h"
#include "networkfield.h"
#include "packages.h"
#include "text.h"

namespace gb::ui {
namespace {

using Column = RecordColumn;
using ColumnKind = RecordColumn::Kind;

bool isAdapter(const Json& record)
{
    return boolOr(record, "is_peft");
}

Json mapToRecords(const Json& map)
{
    Json records = Json::array();
    for (const auto& [name, value] : map.items())
        records.push_back({{"name", name}, {"value", value}});
    return records;
}

Json recordsToMap(const Json& records)
{
    Json map = Json::object();
    for (const auto& record : records)
        map[stringOr(record, "name")] = stringOr(record, "value");
    return map;
}

// ["local", "inside"] is the short spelling of a copy.
Json mountsToRecords(const Json& mounts)
{
    Json records = Json::array();
    for (const auto& mount : mounts) {
        if (mount.is_array() && mount.size() == 2)
            records.push_back({{"local", mount[0]}, {"inside", mount[1]}});
        else
            records.push_back(mount);
    }
    return records;
}

Json recordsToMounts(const Json& records)
{
    Json mounts = Json::array();
    for (const auto& record : records) {
        if (record.contains("mode"))
            mounts.push_back(record);
        else
            mounts.push_back(Json::array({stringOr(record, "local"), stringOr(record, "inside")}));
    }
    return mounts;
}

Json listIn(const Json& object, const char* key)
{
    const auto found = object.find(key);
    return found != object.end() && found->is_array() ? *found : Json::array();
}

// What a provider says it can make comes first; the others say why they cannot be chosen.
std::vector<PickField::Choice> pythonVersions(const Json& provider)
{
    constexpr const char* all[] = {"3.14", "3.13", "3.12", "3.11", "3.10", "3.9"};
    const auto made = listIn(provider, "python_versions");
    std::vector<PickField::Choice> offered;
    std::vector<PickField::Choice> others;
    for (const std::string version : all) {
        const auto text = QString::fromStdString(version);
        if (made.empty() || std::ranges::find(made, Json(version)) != made.end()) {
            offered.push_back({text, version});
            continue;
        }
        auto reason = SandboxText::tr("There is no image with it.");
        for (const auto& python : listIn(provider, "interpreters"))
            if (stringOr(python, "version").starts_with(version + "."))
                reason = SandboxText::tr("There is no image with it, but %1: choose that as “Python from”.")
                             .arg(textField(python, "path"));
        others.push_back({text, version, reason});
    }
    std::ranges::move(others, std::back_inserter(offered));
    return offered;
}

} // namespace

SandboxForm::SandboxForm(api::Client& client, Draft& draft, ExperimentFile& file, QWidget* parent)
    : QWidget(parent), m_client(client), m_draft(draft), m_file(file), m_form(new DraftForm(draft, this))
{
    setAcceptDrops(true);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_form);
    addCompute();
    addModels();
    addPython();
    addSystem();
    addRepos();
    addFiles();
    addSecrets();
    addEnvironment();
    addNetwork();
    addTime();
    connect(&m_draft, &Draft::changed, this, [this](const Draft::Fields& fields) {
        const bool other =
            m_draft.value("provider").is_string() && m_draft.value("provider") != m_shownProvider;
        constexpr const char* ruling[] = {"execution_mode", "notebook_packages", "gpu", "gpu_count"};
        if (other)
            applyProvider();
        else if (std::ranges::any_of(ruling, [&](const char* field) { return fields.contains(field); }))
            applyStates();
    });
    connect(&m_file, &ExperimentFile::textChanged, m_secrets, &TokensField::remark);
    // Until it is known what there is: as for the defaults, so that nothing is drawn to be hidden.
    for (const char* field : {"notebook_packages", "gpu_count"})
        m_form->row(field)->setState({FieldState::Kind::Hidden});
}

void SandboxForm::addCompute()
{
    m_form->addSection(
        SandboxText::tr("Compute"), SandboxText::tr("Where it runs, and how much of that it gets."));
    m_form->addRow("name",
        {SandboxText::tr("Name"),
            SandboxText::tr("How lists and records call it. Empty: the experiment's name.")},
        new LineField(SandboxText::tr("a name")));
    m_provider = new PickField(PickField::Kind::Closed, {{SandboxText::tr("This machine"), "local"}});
    m_form->addRow("provider",
        {SandboxText::tr("Provider"), SandboxText::tr("Who runs the sandbox."),
            QStringLiteral("modal local")},
        m_provider);
    m_form->addRow("scoped",
        {SandboxText::tr("Scoped sandbox"),
            SandboxText::tr("The agent gets the functions of your interface file and nothing else: no shell, "
                            "no network.")},
        new SwitchField(SandboxText::tr("Serve an interface only")));
    m_gpu = new PickField(PickField::Kind::Open, {{SandboxText::tr("none"), nullptr}});
    m_form->addRow(
        "gpu", {SandboxText::tr("GPU type"), SandboxText::tr("Leave it empty to run on processors.")}, m_gpu);
    m_form->addRow("gpu_count", {SandboxText::tr("Number of GPUs")}, new FigureField(QStringLiteral("1")));
    m_form->addRow("cpu", {SandboxText::tr("Processors"), SandboxText::tr("Empty: not limited.")},
        new FigureField(SandboxText::tr("all")));
    m_form->addRow("memory", {SandboxText::tr("Memory"), SandboxText::tr("Empty: not limited.")},
        new QuantityField(QuantityField::Kind::Bytes, SandboxText::tr("like 8 GiB")));
    m_form->addRow("disk", {SandboxText::tr("Disk"), SandboxText::tr("Empty: not limited.")},
        new QuantityField(QuantityField::Kind::Bytes, SandboxText::tr("like 20 GiB")));
}

void SandboxForm::addModels()
{
    m_form->addSection(SandboxText::tr("Models"),
        SandboxText::tr("Downloaded once for all sandboxes; code finds them by get_model_path(name)."));
    m_models = new RecordsField(
        {Column{"name", SandboxText::tr("Model"), ColumnKind::Text, 0, 3, SandboxText::tr("org/name")},
            Column{"var_name", SandboxText::tr("Variable"), ColumnKind::Text, 0, 1, QStringLiteral("model"),
                "model"},
            Column{"hidden", SandboxText::tr("Hidden from the agent"), ColumnKind::Switch, 1, 0,
                SandboxText::tr("The agent is not told which model it is. Code that runs in a full sandbox "
                                "can still see its architecture.")},
            Column{"is_peft", SandboxText::tr("Adapter"), ColumnKind::Switch, 1, 0,
                SandboxText::tr("It is an adapter (PEFT, LoRA) for another model.")},
            Column{"load_as_peft", SandboxText::tr("Load as PEFT"), ColumnKind::Switch, 1, 0,
                SandboxText::tr("Wrap the model so that adapters can be trained on it."), nullptr, {},
                [](const Json& record) { return !isAdapter(record); }},
            Column{"base_model", SandboxText::tr("Base model"), ColumnKind::Text, 2, 1,
                SandboxText::tr("org/name"), nullptr, {}, isAdapter},
            Column{"path", SandboxText::tr("Folder on this machine instead"), ColumnKind::Text, 3, 1,
                SandboxText::tr("empty: download it")}},
        SandboxText::tr("Add model"));
    connect(m_models, &RecordsField::recordEdited, this, [this](int index, const std::string& key) {
        if (key == "is_peft")
            lookUpBase(index);
    });
    m_form->addRow("models",
        {SandboxText::tr("Models"), {}, QStringLiteral("peft lora adapter hidden var_name base_model")},
        m_models);
}

void SandboxForm::lookUpBase(int index)
{
    const auto record = m_models->record(index);
    const auto name = stringOr(record, "name");
    if (!isAdapter(record) || name.empty() || !stringOr(record, "base_model").empty())
        return;
    // An adapter's own configuration names its base.
    m_client.call(this, "models.show", {{"model", name}}, [this, index, name](Result<api::Answer> answer) {
        if (!answer || index >= m_models->count())
            return;
        const auto base = answer->body.contains("base") && answer->body["base"].is_object()
            ? stringOr(answer->body["base"], "repo")
            : stringOr(answer->body, "base");
        auto now = m_models->record(index);
        if (base.empty() || stringOr(now, "name") != name || !stringOr(now, "base_model").empty())
            return;
        now["base_model"] = base;
        m_models->setRecord(index, now);
        Q_EMIT notice(
            SandboxText::tr("The adapter says it was made for %1.").arg(QString::fromStdString(base)));
    });
}

void SandboxForm::addPython()
{
    m_form->addSection(SandboxText::tr("Python"));
    m_interpreter = new PickField(
        PickField::Kind::Open, {{SandboxText::tr("an image of its own (recommended)"), nullptr}});
    m_form->addRow("interpreter",
        {SandboxText::tr("Python from"),
            SandboxText::tr("“Use my Python”: an interpreter of this machine with its packages, read-only, "
                            "instead of an image.")},
        m_interpreter);
    m_version = new PickField(PickField::Kind::Open, pythonVersions(Json::object()));
    m_form->addRow("python_version",
        {SandboxText::tr("Python version"), SandboxText::tr("Of the image; your own Python has its own.")},
        m_version);
    m_packages = new TokensField(SandboxText::tr("numpy>=1.26, or paste a requirements.txt"));
    m_packages->setSplitter([this](const QString& text) {
        const auto read = readPackages(text);
        if (!read.leftOut.isEmpty())
            Q_EMIT notice(SandboxText::tr("Left out, because pip's options come from your settings: %1")
                              .arg(read.leftOut.join(QStringLiteral(", "))));
        return read.packages;
    });
    m_form->addRow("python_packages",
        {SandboxText::tr("Packages"),
            SandboxText::tr(
                "Enter adds one. A pasted requirements.txt or “pip install” line is taken apart."),
            QStringLiteral("pip requirements")},
        m_packages);
    auto* paste = makeButton(SandboxText::tr("Paste requirements"), ButtonKind::Link);
    connect(paste, &QPushButton::clicked, this, &SandboxForm::pastePackages);
    auto* line = new QWidget;
    auto* inLine = new QHBoxLayout(line);
    inLine->setContentsMargins(0, 0, 0, 0);
    inLine->addWidget(paste);
    inLine->addStretch(1);
    m_form->addWidget(line);
    m_form->addRow("execution_mode",
        {SandboxText::tr("The agent works with"), SandboxText::tr("A scoped sandbox has neither.")},
        new PickField(PickField::Kind::Closed,
            {{SandboxText::tr("a command line"), "cli"}, {SandboxText::tr("a notebook"), "notebook"},
                {SandboxText::tr("neither"), "none"}}));
    m_form->addRow("notebook_packages",
        {SandboxText::tr("Packages for notebooks"),
            SandboxText::tr("Installed as well when the agent works with a notebook.")},
        new TokensField(SandboxText::tr("a package")));
}

void SandboxForm::pastePackages()
{
    const auto read = readPackages(QApplication::clipboard()->text());
    if (read.packages.isEmpty())
        Q_EMIT notice(SandboxText::tr("There are no packages in the clipboard."));
    m_packages->add(read.packages);
}

void SandboxForm::addSystem()
{
    m_form->addSection(SandboxText::tr("System packages"));
    m_form->addRow("system_packages",
        {SandboxText::tr("Debian packages"),
            SandboxText::tr("Installed into the image, with what they need."), QStringLiteral("apt")},
        new TokensField(SandboxText::tr("git, ffmpeg …")));
    m_form->addRow("docker_in_docker", {SandboxText::tr("Containers inside")},
        new SwitchField(SandboxText::tr("Docker can be used in the sandbox")));
}

void SandboxForm::addRepos()
{
    m_form->addSection(SandboxText::tr("Repos"),
        SandboxText::tr(
            "Cloned into /workspace. A Dockerfile is for providers with Docker; this machine clones only."));
    m_form->addRow("repos",
        {SandboxText::tr("Repositories"), {}, QStringLiteral("git clone install dockerfile")},
        new RecordsField({Column{"url", SandboxText::tr("Repository"), ColumnKind::Text, 0, 3,
                              SandboxText::tr("org/repo or an address")},
                             Column{"install", SandboxText::tr("Install with"), ColumnKind::Text, 0, 2,
                                 SandboxText::tr("pip install -e .")},
                             Column{"dockerfile", SandboxText::tr("Dockerfile"), ColumnKind::Text, 1, 1,
                                 SandboxText::tr("docker/Dockerfile")}},
            SandboxText::tr("Add repository")));
}

RecordsField* SandboxForm::makeMounts(const QString& addText)
{
    auto* mounts = new RecordsField(
        {Column{"local", SandboxText::tr("On this machine"), ColumnKind::Text, 0, 3},
            Column{"inside", SandboxText::tr("In the sandbox"), ColumnKind::Text, 0, 3,
                QStringLiteral("/workspace/…")},
            Column{"mode", SandboxText::tr("How"), ColumnKind::Choice, 0, 2, {}, "copy",
                {{SandboxText::tr("copied"), "copy"}, {SandboxText::tr("read-only"), "read-only"},
                    {SandboxText::tr("writable"), "writable"}}}},
        addText);
    mounts->setCodec({mountsToRecords, recordsToMounts});
    return mounts;
}

void SandboxForm::addFiles()
{
    m_form->addSection(SandboxText::tr("Files and folders"),
        SandboxText::tr(
            "Drop them anywhere on this form. A copy leaves yours alone; a writable one does not."));
    auto* files = makeMounts(SandboxText::tr("Add file"));
    files->addButton(SandboxText::tr("Browse…"), QStringLiteral("file"), [this] { browse(false); });
    m_form->addRow("local_files", {SandboxText::tr("Files"), {}, QStringLiteral("mount copy")}, files);
    auto* folders = makeMounts(SandboxText::tr("Add folder"));
    folders->addButton(SandboxText::tr("Browse…"), QStringLiteral("folder"), [this] { browse(true); });
    m_form->addRow(
        "local_dirs", {SandboxText::tr("Folders"), {}, QStringLiteral("mount copy directory")}, folders);
}

void SandboxForm::browse(bool folders)
{
    if (!folders) {
        addPaths(
            QFileDialog::getOpenFileNames(this, SandboxText::tr("Files for the sandbox"), m_file.folder()));
        return;
    }
    const auto path =
        QFileDialog::getExistingDirectory(this, SandboxText::tr("A folder for the sandbox"), m_file.folder());
    if (!path.isEmpty())
        addPaths({path});
}

void SandboxForm::addPaths(const QStringList& paths)
{
    Json fields = Json::object();
    for (const auto& path : paths) {
        const QFileInfo info(path);
        const std::string field = info.isDir() ? "local_dirs" : "local_files";
        if (!fields.contains(field))
            fields[field] = m_draft.value(field).is_array() ? m_draft.value(field) : Json::array();
        // Inside the experiment a relative path keeps the file good on another machine.
        const auto relative = m_file.hasFolder() ? QDir(m_file.folder()).relativeFilePath(path) : path;
        const auto local = relative.startsWith(QLatin1String("..")) ? path : relative;
        fields[field].push_back(
            Json::array({local.toStdString(), "/workspace/" + info.fileName().toStdString()}));
    }
    if (!fields.empty())
        m_draft.set(fields);
}

void SandboxForm::dragEnterEvent(QDragEnterEvent* event)
{
    const auto urls = event->mimeData()->urls();
    if (!urls.isEmpty() && std::ranges::all_of(urls, [](const QUrl& url) { return url.isLocalFile(); }))
        event->acceptProposedAction();
}

void SandboxForm::dropEvent(QDropEvent* event)
{
    QStringList paths;
    for (const auto& url : event->mimeData()->urls())
        paths += url.toLocalFile();
    event->acceptProposedAction();
    addPaths(paths);
}

void SandboxForm::addSecrets()
{
    m_form->addSection(SandboxText::tr("Secrets"),
        SandboxText::tr("Only names are kept. Values come from your environment, the experiment's .env or "
                        "the key store when it starts."));
    m_secrets = new TokensField(SandboxText::tr("HF_TOKEN"));
    m_secrets->setProposals({QStringLiteral("HF_TOKEN"), QStringLiteral("WANDB_API_KEY")});
    m_secrets->setMark([this](const QString& name, bool* good) {
        if (qEnvironmentVariableIsSet(name.toLatin1().constData()))
            return SandboxText::tr("in your environment");
        if (m_file.secretNames().contains(name))
            return SandboxText::tr("in .env");
        if (m_storedSecrets.contains(name))
            return SandboxText::tr("in the key store");
        *good = false;
        return SandboxText::tr("not found");
    });
    m_form->addRow(
        "secrets", {SandboxText::tr("Names"), {}, QStringLiteral("token key password env")}, m_secrets);
}

void SandboxForm::addEnvironment()
{
    m_form->addSection(SandboxText::tr("Environment"));
    auto* env = new RecordsField(
        {Column{"name", SandboxText::tr("Variable"), ColumnKind::Text, 0, 2, QStringLiteral("NAME")},
            Column{"value", SandboxText::tr("Value"), ColumnKind::Text, 0, 3}},
        SandboxText::tr("Add variable"));
    env->setCodec({mapToRecords, recordsToMap});
    m_form->addRow("env",
        {SandboxText::tr("Variables"),
            SandboxText::tr("For every command. What must not be seen belongs to the secrets.")},
        env);
    auto* tags = new RecordsField({Column{"name", SandboxText::tr("Tag"), ColumnKind::Text, 0, 2},
                                      Column{"value", SandboxText::tr("Value"), ColumnKind::Text, 0, 3}},
        SandboxText::tr("Add tag"));
    tags->setCodec({mapToRecords, recordsToMap});
    m_form->addRow(
        "tags", {SandboxText::tr("Tags"), SandboxText::tr("For your own order; they change nothing.")}, tags);
}

void SandboxForm::addNetwork()
{
    m_form->addSection(SandboxText::tr("Network and ports"));
    m_form->addRow("network",
        {SandboxText::tr("Network"), SandboxText::tr("What code inside may reach."),
            QStringLiteral("hosts internet offline")},
        new NetworkField);
    m_form->addRow("encrypted_ports",
        {SandboxText::tr("Open ports"), SandboxText::tr("Ports inside that you want to reach from here.")},
        new TokensField(QStringLiteral("8000"), TokensField::Kind::Numbers));
    const auto port = [this](const char* name, const QString& title) {
        m_form->addRow(name, {title}, new FigureField(SandboxText::tr("assigned")));
    };
    port("jupyter_port", SandboxText::tr("Port of Jupyter"));
    port("rpc_port", SandboxText::tr("Port of the interface"));
    port("debug_port", SandboxText::tr("Port of VS Code"));
    m_form->addRow(
        "debug", {SandboxText::tr("Debugging")}, new SwitchField(SandboxText::tr("VS Code in the browser")));
}

void SandboxForm::addTime()
{
    const auto seconds = [](const QString& hint) {
        return new QuantityField(QuantityField::Kind::Seconds, hint);
    };
    m_form->addSection(SandboxText::tr("Time and money"));
    m_form->addRow("timeout",
        {SandboxText::tr("Ends after"),
            SandboxText::tr(
                "Whatever happens inside; it can be extended while it runs. Empty: when you stop it.")},
        seconds(SandboxText::tr("like 2 h, 90 min")));
    m_form->addRow("idle_timeout",
        {SandboxText::tr("Ends when idle for"),
            SandboxText::tr("Idle: no command and no call. Empty: never.")},
        seconds(SandboxText::tr("like 30 min")));
    m_form->addRow("spend_cap",
        {SandboxText::tr("Spend at most (US $)"), SandboxText::tr("Then it is stopped. Empty: no cap.")},
        new FigureField(SandboxText::tr("no cap")));
    m_form->addRow("rpc_timeout", {SandboxText::tr("A call may take")}, seconds(SandboxText::tr("10 min")));
    m_form->addRow("wait_timeout", {SandboxText::tr("The interface may take to load")},
        seconds(SandboxText::tr("5 min")));
}

void SandboxForm::setStoredSecrets(const QStringList& names)
{
    m_storedSecrets = names;
    m_secrets->setProposals(
        QStringList({QStringLiteral("HF_TOKEN"), QStringLiteral("WANDB_API_KEY")}) + names);
    m_secrets->remark();
}

void SandboxForm::setModels(const QStringList& names)
{
    m_models->setProposals("name", names);
    m_models->setProposals("base_model", names);
}

void SandboxForm::setCapabilities(const Json& capabilities)
{
    m_capabilities = capabilities;
    std::vector<PickField::Choice> providers;
    if (capabilities.contains("providers"))
        for (const auto& each : capabilities["providers"]) {
            const auto title = textField(each, "title");
            const auto reason = boolOr(each, "available", true) ? QString() : textField(each, "reason");
            providers.push_back({reason.isEmpty() ? title : SandboxText::tr("%1 (not available)").arg(title),
                stringOr(each, "id"), reason});
        }
    if (!providers.empty())
        m_provider->setChoices(std::move(providers));
    applyProvider();
}

void SandboxForm::applyProvider()
{
    m_shownProvider = stringOr(m_draft.values(), "provider");
    std::vector<PickField::Choice> gpus{{SandboxText::tr("none"), nullptr}};
    std::vector<PickField::Choice> pythons{{SandboxText::tr("an image of its own (recommended)"), nullptr}};
    QStringList models;
    const auto provider = shownProvider();
    for (const auto& gpu : listIn(provider, "gpus"))
        if (gpu.is_string())
            gpus.push_back({QString::fromStdString(gpu.get<std::string>()), gpu});
        else
            gpus.push_back({textField(gpu, "name"), stringOr(gpu, "name")});
    for (const auto& python : listIn(provider, "interpreters"))
        pythons.push_back(
            {SandboxText::tr("%1 (Python %2)").arg(textField(python, "path"), textField(python, "version")),
                stringOr(python, "path")});
    for (const auto& model : listIn(provider, "models"))
        models += textField(model, "name");
    m_gpu->setChoices(std::move(gpus));
    m_interpreter->setChoices(std::move(pythons));
    m_version->setChoices(pythonVersions(provider));
    if (!models.isEmpty())
        setModels(models);
    applyStates();
}

Json SandboxForm::shownProvider() const
{
    for (const auto& each : listIn(m_capabilities, "providers"))
        if (stringOr(each, "id") == m_shownProvider)
            return each;
    return Json::object();
}

void SandboxForm::applyStates()
{
    std::map<std::string, FieldState> states;
    const auto provider = shownProvider();
    const auto fields = objectOr(provider, "fields");
    for (const auto& [name, field] : fields.items()) {
        const auto state = stringOr(field, "state");
        states[name] = {state == "hidden" ? FieldState::Kind::Hidden
                : state == "disabled"     ? FieldState::Kind::Disabled
                                          : FieldState::Kind::Usable,
            textField(field, "reason")};
    }
    if (!provider.empty() && listIn(provider, "gpus").empty() && !states.contains("gpu"))
        states["gpu"].reason = SandboxText::tr("No GPU was found here.");
    // What a notebook or a GPU needs says nothing to who works without one; what is set is shown all the
    // same.
    if (m_draft.value("execution_mode") != "notebook")
        states["notebook_packages"].kind = FieldState::Kind::Hidden;
    if (m_draft.value("gpu").is_null())
        states["gpu_count"].kind = FieldState::Kind::Hidden;
    m_form->setStates(states);
}

std::vector<SpecProblem> sandboxProblems(const Json& values)
{
    const auto spec = SandboxSpec::fromJson(values);
    if (spec)
        return spec->problems();
    std::vector<SpecProblem> problems;
    if (!spec.error().data.contains("problems"))
        return {{"", spec.error().message, "", SpecProblem::Severity::Error}};
    for (const auto& problem : spec.error().data["problems"])
        problems.push_back(
            {stringOr(problem, "field"), stringOr(problem, "message"), stringOr(problem, "fix"),
                stringOr(problem, "severity") == "warning" ? SpecProblem::Severity::Warning
                                                           : SpecProblem::Severity::Error});
    return problems;
}

} // namespace gb::ui
