// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <backend/base/json.h>

namespace gb::test {

// What goes wrong with answers whose path ends in `path`.
struct Fault
{
    enum class Kind {
        Cut, // the connection closes after `bytes` of the body
        Stall, // nothing comes after `bytes`, the connection stays
        Drip, // one byte now and then after `bytes`
        WrongRange, // a Content-Range that is shifted
        IgnoreRange, // 200 and everything
        Gzip, // a Content-Encoding nobody asked for
        FlipBit, // at offset `bytes` of the file
        Truncate, // the file ends `bytes` early, and every header agrees
        Status, // `status`, with the headers
        Close, // without an answer
    };
    Kind kind = Kind::Cut;
    std::string path;
    int times = 1; // -1: always
    std::uint64_t bytes = 0;
    int status = 0;
    std::vector<std::string> headers = {}; // "Name: value"
    std::string method = {}; // any when empty

    bool stopsMidway() const { return kind == Kind::Cut || kind == Kind::Stall || kind == Kind::Drip; }
};

struct HubFile
{
    std::string content;
    // Instead of content: pseudo-random bytes made as they are sent, for files larger than memory.
    std::uint64_t generated = 0;
    bool lfs = false;
    mutable std::string digest = {}; // of the content; computed when somebody asks

    std::uint64_t size() const { return generated > 0 ? generated : content.size(); }
    void read(std::uint64_t offset, char* to, std::size_t count) const;
    std::string sha256() const;
    std::string blobId() const;
};

struct HubRepo
{
    std::string commit;
    std::map<std::string, HubFile> files;
    std::string gated; // "", "auto", "manual"; then only the access token opens files
    std::string movedTo; // renamed: a relative redirect
    std::vector<Json> extraTree; // raw entries, for a hostile listing
};

struct HubRequest
{
    std::string method;
    std::string path; // with its query
    std::map<std::string, std::string> headers; // lower-case names

    std::string header(const std::string& name) const;
};

// A model hub in the test process that speaks the real protocol, and goes wrong where it is told to. Two of
// them make a hub and the host its files live on.
class HubServer
{
public:
    HubServer();
    ~HubServer();
    HubServer(const HubServer&) = delete;
    HubServer& operator=(const HubServer&) = delete;

    std::string url() const; // http://127.0.0.1:port
    HubRepo& addRepo(const std::string& name);
    void setToken(std::string token) { m_token = std::move(token); }
    void setBytesPerSecond(std::int64_t rate) { m_rate = rate; } // of each connection; 0: as fast as it goes
    void setTreePage(std::size_t entries) { m_treePage = entries; }
    void setLfsHost(HubServer* other); // LFS files are redirected there
    void addFault(Fault fault);
    void clearFaults();

    std::vector<HubRequest> requests() const;
    void forgetRequests();
    std::uint64_t sentBytes() const { return m_sent; } // of files
    int mostConnections() const { return m_mostConnections; }

private:
    struct Answer;
    struct Client;

    void acceptLoop();
    void serve(Client* client);
    bool answerOne(int fd, const HubRequest& request);
    Answer route(const HubRequest& request);
    Answer modelInfo(
        const std::string& name, HubRepo& repo, const std::string& rest, const HubRequest& request);
    Answer tree(const HubRepo& repo, const std::string& query, const std::string& path);
    Answer file(HubRepo& repo, const std::string& path, const HubRequest& request);
    std::optional<Fault> takeFault(const HubRequest& request);
    bool sendBody(int fd, const Answer& answer, const std::optional<Fault>& fault, std::uint64_t first,
        std::uint64_t last);
    bool idle(int fd, int milliseconds) const;

    int m_listen = -1;
    int m_port = 0;
    std::atomic<bool> m_stopping = false;
    std::atomic<std::int64_t> m_rate = 0;
    std::atomic<std::uint64_t> m_sent = 0;
    std::atomic<int> m_connections = 0;
    std::atomic<int> m_mostConnections = 0;
    std::string m_token;
    std::size_t m_treePage = 0;
    HubServer* m_lfsHost = nullptr;
    mutable std::mutex m_mutex;
    std::map<std::string, HubRepo> m_repos;
    std::map<std::string, std::shared_ptr<const HubFile>>
        m_lfs; // by hash: what this server holds for another
    std::list<Fault> m_faults;
    std::vector<HubRequest> m_requests;
    std::list<std::unique_ptr<Client>> m_clients;
    std::thread m_thread;
};

} // namespace gb::test
