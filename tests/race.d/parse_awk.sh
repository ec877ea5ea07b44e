# The last placement of each log, by grep and awk: parse_awk.sh PATH. A tab stands between the answers.
grep -rHaF --include='*.log' 'weave placement: render=' "$1" | awk '
    {
        file = substr($0, 1, index($0, ".log:") + 3)
        if (!match($0, /weave placement: render=/)) next
        body = substr($0, RSTART + RLENGTH)
        sub(/\r$/, "", body)
        cut = index(body, ", panel scanout=")
        dash = index(body, " — ")
        if (!cut || !dash) next
        render = substr(body, 1, cut - 1)
        scanout = substr(body, cut + 16, dash - cut - 16)
        last[file] = name(render) "\t" name(scanout) "\t" substr(body, dash + length(" — "))
    }
    function name(text) {
        if (text !~ /^\x27/) return ""
        sub(/^\x27/, "", text)
        sub(/\x27 LUID=.*$/, "", text)
        return text
    }
    END { for (file in last) print file "\t" last[file] }'
