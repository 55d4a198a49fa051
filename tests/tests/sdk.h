/* The scalar types as the headers of the Windows SDK and WDK declare them (basetsd.h, minwindef.h, winnt.h, ntdef.h, wdm.h,
   evntprov.h, evntrace.h). */
typedef char CHAR;
typedef signed char INT8;
typedef unsigned char UCHAR;
typedef short SHORT;
typedef unsigned short USHORT;
typedef unsigned short WCHAR; /* wchar_t */
typedef int INT;
typedef long LONG;
typedef unsigned long ULONG;
typedef unsigned int UINT;
typedef __int64 LONGLONG;
typedef unsigned __int64 ULONGLONG;

typedef signed short INT16;
typedef signed int INT32;
typedef signed __int64 INT64;
typedef unsigned char UINT8;
typedef unsigned short UINT16;
typedef unsigned int UINT32;
typedef unsigned __int64 UINT64;
typedef signed int LONG32;
typedef __int64 LONG64;
typedef unsigned int ULONG32;
typedef unsigned __int64 ULONG64;
typedef unsigned int DWORD32;
typedef unsigned __int64 DWORD64;
typedef ULONGLONG DWORDLONG;
typedef signed char SCHAR;
typedef unsigned char BYTE;
typedef unsigned short WORD;
typedef unsigned long DWORD;
typedef short CSHORT;
typedef ULONG CLONG;
typedef LONGLONG USN;

#ifdef _WIN64
typedef __int64 INT_PTR;
typedef unsigned __int64 UINT_PTR;
typedef __int64 LONG_PTR;
typedef unsigned __int64 ULONG_PTR;
typedef int HALF_PTR;
typedef unsigned int UHALF_PTR;
#else
typedef int INT_PTR;
typedef unsigned int UINT_PTR;
typedef long LONG_PTR;
typedef unsigned long ULONG_PTR;
typedef short HALF_PTR;
typedef unsigned short UHALF_PTR;
#endif
typedef ULONG_PTR DWORD_PTR;
typedef ULONG_PTR SIZE_T;
typedef LONG_PTR SSIZE_T;
typedef ULONG_PTR KSPIN_LOCK;
typedef ULONG_PTR KAFFINITY;
typedef UINT_PTR WPARAM;
typedef LONG_PTR LPARAM;
typedef LONG_PTR LRESULT;

typedef int BOOL;
typedef UCHAR BOOLEAN;
typedef ULONG LOGICAL;
typedef CHAR CCHAR;
typedef LONG NTSTATUS;
typedef LONG HRESULT;
typedef UCHAR KIRQL;
typedef LONG KPRIORITY;
typedef CCHAR KPROCESSOR_MODE;
typedef LONG EX_SPIN_LOCK; /* volatile */
typedef ULONG DEVICE_TYPE;
typedef ULONG ACCESS_MASK;
typedef ULONG LCID;
typedef USHORT LANGID;
typedef WORD ATOM;
typedef ULONG64 TRACEHANDLE;
typedef ULONGLONG REGHANDLE;
typedef ULONGLONG PERFINFO_TIMESTAMP;

typedef void *PVOID;
typedef void *LPVOID;
typedef void *HANDLE;
typedef CHAR *PSTR, *LPSTR;
typedef WCHAR *PWSTR, *LPWSTR;
typedef const CHAR *PCSTR;
typedef const WCHAR *PCWSTR;
typedef PVOID PSID;
typedef PVOID PSECURITY_DESCRIPTOR;
typedef void (*PKNORMAL_ROUTINE)(PVOID, PVOID, PVOID);
