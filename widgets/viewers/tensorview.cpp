// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "tensorview.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include <QComboBox>
#include <QLabel>
#include <QPointer>
#include <QSlider>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <widgets/controls/errortext.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/theme.h>

#include "matrixview.h"
#include "text.h"
#include "vectorview.h"

namespace gb::ui {
namespace {

constexpr int tileSide = 512;
constexpr int vectorPoints = 4096;

// One of the three planes of a tile (mean, min, max), or an empty matrix.
Matrix planeOf(const api::Answer& answer, std::size_t plane)
{
    const auto shape = answer.body.value("shape", Json::array());
    Matrix matrix;
    if (!shape.is_array() || shape.size() != 3 || !shape[1].is_number_integer()
        || !shape[2].is_number_integer())
        return matrix;
    const auto rows = std::clamp<std::int64_t>(shape[1].get<std::int64_t>(), 0, vectorPoints);
    const auto columns = std::clamp<std::int64_t>(shape[2].get<std::int64_t>(), 0, vectorPoints);
    const auto count = static_cast<std::size_t>(rows * columns);
    if (answer.attachment.size() != count * 3 * sizeof(float))
        return matrix;
    matrix.values.resize(count);
    std::memcpy(matrix.values.data(), answer.attachment.data() + plane * count * sizeof(float),
        count * sizeof(float));
    matrix.rows = static_cast<int>(rows);
    matrix.columns = static_cast<int>(columns);
    return matrix;
}

int sideOf(std::int64_t side)
{
    return static_cast<int>(std::min<std::int64_t>(side, std::numeric_limits<int>::max()));
}

} // namespace

TensorView::TensorView(QWidget* parent) : QWidget(parent)
{
    m_choice = new QComboBox;
    m_choice->setAccessibleName(ViewersText::tr("Which tensor"));
    m_about = makeLabel({}, TextRole::Mono);
    m_about->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_about->setWordWrap(true);
    m_problem = makeLabel({}, TextRole::Error);
    m_problem->setWordWrap(true);
    m_problem->hide();
    m_sliderBox = new QWidget;
    new QVBoxLayout(m_sliderBox);
    m_sliderBox->layout()->setContentsMargins(0, 0, 0, 0);
    m_matrix = new MatrixView;
    m_vector = new VectorView;
    m_stack = new QStackedWidget;
    m_stack->addWidget(m_matrix);
    m_stack->addWidget(m_vector);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space::s);
    layout->addWidget(m_choice, 0, Qt::AlignLeft);
    layout->addWidget(m_about);
    layout->addWidget(m_problem);
    layout->addWidget(m_sliderBox);
    layout->addWidget(m_stack, 1);
    layout->addStretch(); // keeps the words together where there are no values
    connect(m_choice, &QComboBox::activated, this, &TensorView::choose);
    connect(m_matrix, &MatrixView::windowWanted, this, &TensorView::fetchWindow);
}

void TensorView::setTensors(std::vector<HandleField> tensors, TensorFetch fetch)
{
    m_tensors = std::move(tensors);
    m_fetch = std::move(fetch);
    m_choice->clear();
    for (const auto& one : m_tensors)
        m_choice->addItem(one.path + QStringLiteral("   ") + shapeText(one.shape));
    m_choice->setVisible(m_tensors.size() > 1);
    choose(0);
}

void TensorView::choose(int index)
{
    if (index < 0 || static_cast<std::size_t>(index) >= m_tensors.size())
        return;
    m_chosen = static_cast<std::size_t>(index);
    m_choice->setCurrentIndex(index);
    m_stats = tensor().stats;
    m_about->setText(tensorStatistics(tensor(), m_stats));
    m_problem->hide();
    m_stack->setCurrentIndex(tensor().shape.size() < 2 ? 1 : 0);
    makeSliders();
    fetchTile();
    fetchStats();
}

void TensorView::makeSliders()
{
    m_sliders.clear();
    qDeleteAll(m_sliderBox->findChildren<QWidget*>(Qt::FindDirectChildrenOnly));
    const auto& shape = tensor().shape;
    for (std::size_t i = 0; i + 2 < shape.size(); ++i) {
        auto* row = new QWidget;
        auto* line = new QHBoxLayout(row);
        line->setContentsMargins(0, 0, 0, 0);
        auto* name = makeLabel({}, TextRole::Caption);
        name->setMinimumWidth(110);
        auto* slider = new QSlider(Qt::Horizontal);
        slider->setRange(0, std::max(0, sideOf(shape[i]) - 1));
        slider->setAccessibleName(ViewersText::tr("Slice of dimension %1").arg(i));
        const auto show = [name, i, most = slider->maximum()](int at) {
            name->setText(ViewersText::tr("dimension %1: %2 of %3").arg(i).arg(at).arg(most));
        };
        show(0);
        connect(slider, &QSlider::valueChanged, name, show);
        connect(slider, &QSlider::valueChanged, this, &TensorView::fetchTile);
        line->addWidget(name);
        line->addWidget(slider, 1);
        m_sliderBox->layout()->addWidget(row);
        m_sliders += slider;
    }
    m_sliderBox->setVisible(!m_sliders.isEmpty());
}

void TensorView::setSlice(int dimension, int at)
{
    if (auto* slider = m_sliders.value(dimension))
        slider->setValue(at);
}

QString TensorView::statistics() const
{
    return m_about->text();
}

QString TensorView::problem() const
{
    return m_problem->isHidden() ? QString() : m_problem->text();
}

std::int64_t TensorView::lead() const
{
    std::int64_t at = 0;
    for (int i = 0; i < m_sliders.size(); ++i)
        at = at * tensor().shape[static_cast<std::size_t>(i)] + m_sliders[i]->value();
    return at;
}

// They go through all of a tensor, so the picture does not wait for them.
void TensorView::fetchStats()
{
    if (m_stats.contains("min") || !m_fetch)
        return;
    const auto handle = tensor().handle;
    m_fetch({{"handle", handle.toStdString()}, {"what", "stats"}},
        [guard = QPointer(this), handle](const Result<api::Answer>& answer) {
            // Where they do not come, the tile says why.
            if (!guard || !answer || handle != guard->tensor().handle)
                return;
            guard->m_stats = objectOr(answer->body, "stats");
            guard->m_about->setText(tensorStatistics(guard->tensor(), guard->m_stats));
            guard->showHistogram();
            if (guard->m_stats.contains("min"))
                guard->m_matrix->setRange(
                    numberOr(guard->m_stats, "min"), numberOr(guard->m_stats, "max", 1));
        });
}

void TensorView::fetchTile()
{
    if (!m_fetch)
        return showProblem(
            {"tensor.gone", ViewersText::tr("Its values are no longer held by the host.").toStdString()});
    const auto request = ++m_request;
    const bool vector = tensor().shape.size() < 2;
    const Json wanted = {
        {"rows", vector ? 1 : tileSide}, {"cols", vector ? vectorPoints : tileSide}, {"lead", lead()}};
    m_fetch({{"handle", tensor().handle.toStdString()}, {"what", "tile"}, {"tile", wanted}},
        [guard = QPointer(this), request](Result<api::Answer> answer) {
            if (!guard || request != guard->m_request)
                return;
            if (answer)
                guard->showTile(*answer);
            else
                guard->showProblem(answer.error());
        });
}

void TensorView::showTile(const api::Answer& answer)
{
    m_problem->hide();
    m_stack->show();
    auto mean = planeOf(answer, 0);
    const auto& shape = tensor().shape;
    if (shape.size() >= 2) {
        const auto rows = sideOf(shape[shape.size() - 2]);
        // Colours span the whole tensor, so that slices can be compared; until that is known, this slice.
        const auto [low, high] = m_stats.contains("min")
            ? std::pair(numberOr(m_stats, "min"), numberOr(m_stats, "max", 1))
            : std::pair(finiteRange(planeOf(answer, 1)).first, finiteRange(planeOf(answer, 2)).second);
        m_matrix->setOverview(std::move(mean), rows, sideOf(shape.back()), low, high);
        return;
    }
    std::vector<double> values;
    if (shape.empty() || mean.columns == shape.back()) {
        values.assign(mean.values.begin(), mean.values.end());
    } else { // Least and greatest beside each other draw the outline of what is between.
        const auto least = planeOf(answer, 1);
        const auto greatest = planeOf(answer, 2);
        for (std::size_t i = 0; i < least.values.size(); ++i) {
            values.push_back(least.values[i]);
            values.push_back(greatest.values[i]);
        }
    }
    if (shape.empty() || mean.columns == shape.back())
        return m_vector->setValues(std::move(values));
    m_vector->setOutline(std::move(values), shape.back());
    showHistogram();
}

void TensorView::showHistogram()
{
    std::vector<double> bins;
    for (const auto& bin : m_stats.value("histogram", Json::array()))
        bins.push_back(bin.is_number() ? bin.get<double>() : 0);
    if (!bins.empty() && m_vector->isOutline())
        m_vector->setHistogram(std::move(bins), numberOr(m_stats, "min"), numberOr(m_stats, "max", 1));
}

void TensorView::fetchWindow(const QRect& cells, const QSize& most)
{
    if (!m_fetch || tensor().shape.size() < 2)
        return;
    const auto request = ++m_request;
    const Json wanted = {{"rows", std::min({most.height(), cells.height(), 2 * tileSide})},
        {"cols", std::min({most.width(), cells.width(), 2 * tileSide})}, {"lead", lead()},
        {"row0", cells.top()}, {"row1", cells.top() + cells.height()}, {"col0", cells.left()},
        {"col1", cells.left() + cells.width()}};
    m_fetch({{"handle", tensor().handle.toStdString()}, {"what", "tile"}, {"tile", wanted}},
        [guard = QPointer(this), request, cells](Result<api::Answer> answer) {
            if (!guard || request != guard->m_request || !answer)
                return;
            if (auto part = planeOf(*answer, 0); part.rows > 0)
                guard->m_matrix->setDetail(std::move(part), cells);
        });
}

void TensorView::fetchWhole(api::AnswerHandler handler) const
{
    if (m_fetch && !m_tensors.empty())
        m_fetch({{"handle", tensor().handle.toStdString()}, {"what", "slice"}}, std::move(handler));
}

void TensorView::showProblem(const Error& error)
{
    m_problem->setText(errorSentence(error));
    m_problem->show();
    m_stack->hide();
}

} // namespace gb::ui
