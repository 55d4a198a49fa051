#ifndef ANYSIZE_ARRAY
#define ANYSIZE_ARRAY 1
#endif

#ifdef __LP64__
#define ETW_LAYOUTS_LONG int
#else
#define ETW_LAYOUTS_LONG long
#endif

#ifdef _MSC_VER
#define ETW_LAYOUTS_ALIGN(bytes) __declspec(align(bytes))
#else
#define ETW_LAYOUTS_ALIGN(bytes) __attribute__((aligned(bytes)))
#endif

/* Define ETW_LAYOUTS_ASSERTIONS as 0 to disable the assertions, or as 1 to enable them. */
#ifndef ETW_LAYOUTS_ASSERTIONS
#define ETW_LAYOUTS_ASSERTIONS {default}
#endif
#if !ETW_LAYOUTS_ASSERTIONS
#define ETW_LAYOUTS_ASSERT(condition, text)
#elif defined(__cplusplus)
#include <stddef.h>
#define ETW_LAYOUTS_ASSERT(condition, text) static_assert(condition, text);
#define ETW_LAYOUTS_ALIGNOF(type) alignof(type)
#else
#include <stddef.h>
#define ETW_LAYOUTS_ASSERT(condition, text) _Static_assert(condition, text);
#define ETW_LAYOUTS_ALIGNOF(type) _Alignof(type)
#endif

