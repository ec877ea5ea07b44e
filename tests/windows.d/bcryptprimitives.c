/* Stands in for bcryptprimitives.dll, which Windows has and Debian 12's Wine lacks. Rust's standard library takes random
   bytes from it, so without it no program of ours starts there. Test harness only: this is never shipped. */
#include <windows.h>

/* advapi32's RtlGenRandom, under the name that it is exported by. */
BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG size);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE buffer, SIZE_T size)
{
    while (size > 0) {
        ULONG part = size > 0x10000 ? 0x10000 : (ULONG)size;
        if (!SystemFunction036(buffer, part))
            return FALSE;
        buffer += part;
        size -= part;
    }
    return TRUE;
}
