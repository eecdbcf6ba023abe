// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "filesystem.h"

#include <fstream>
#include <sstream>

#include <sys/statfs.h>

namespace gb {
namespace {

struct KnownType
{
    std::uint32_t magic;
    const char* name;
};

constexpr std::uint32_t fuseMagic = 0x65735546;
constexpr KnownType networkTypes[] = {{0x6969, "NFS"}, {0x517B, "SMB"}, {0xFF534D42, "CIFS"},
    {0xFE534D42, "SMB"}, {0x5346414F, "AFS"}, {0x6B414653, "AFS"}, {0x73757245, "Coda"}, {0x564C, "NCP"},
    {0x01021997, "9P"}, {0x00C36400, "Ceph"}, {0x0BD00BD0, "Lustre"}, {0x47504653, "GPFS"},
    {0x19830326, "BeeGFS"}, {0x7461636F, "OCFS2"}, {0x01161970, "GFS2"}};

// The nearest folder that is there: the data folder itself may not have been made yet.
fs::path nearestFolder(fs::path folder)
{
    std::error_code error;
    while (!fs::exists(folder, error) && folder.has_parent_path() && folder != folder.parent_path())
        folder = folder.parent_path();
    return folder;
}

std::uint64_t systemType(const fs::path& folder)
{
    struct statfs info
    { };
    return ::statfs(folder.c_str(), &info) == 0 ? std::uint32_t(info.f_type) : 0;
}

// FUSE is one magic for many file systems; those over a network are known by name.
bool isNetworkFuse(const fs::path& folder)
{
    std::ifstream mounts("/proc/self/mounts");
    std::string line;
    std::string best;
    std::string type;
    std::error_code error;
    const std::string wanted = fs::canonical(folder, error).string() + "/";
    while (std::getline(mounts, line)) {
        std::istringstream fields(line);
        std::string device;
        std::string point;
        std::string kind;
        fields >> device >> point >> kind;
        const std::string prefix = point == "/" ? point : point + "/";
        if (wanted.compare(0, prefix.size(), prefix) == 0 && prefix.size() >= best.size()) {
            best = prefix;
            type = kind;
        }
    }
    return type == "fuse.sshfs" || type == "fuse.s3fs" || type == "fuse.rclone" || type == "fuse.gcsfuse"
        || type == "fuse.glusterfs" || type == "fuse.ceph" || type == "fuse.davfs";
}

} // namespace

Status refuseNetworkFolder(
    const fs::path& folder, const std::function<std::uint64_t(const fs::path&)>& typeOf)
{
    const fs::path there = nearestFolder(folder);
    const std::uint64_t type = typeOf ? typeOf(there) : systemType(there);
    std::string name;
    for (const KnownType& known : networkTypes)
        if (type == known.magic)
            name = known.name;
    if (name.empty() && type == fuseMagic && isNetworkFuse(there))
        name = "network FUSE";
    if (name.empty())
        return {};
    return fail("store.network_folder",
        folder.string() + " lies on a network file system (" + name
            + "), where a database can be damaged; set GLOVEBOX_HOME to a folder on a local disk",
        Json{{"path", folder.string()}, {"type", name}});
}

} // namespace gb
