/* Decodes the events that the consumer of a session of Event Tracing for Windows receives, without the decoder of Windows (TDH).
 *
 * Link the static library of the crate etw-layouts-record. It can be included before or after evntcons.h, or without it.
 * A decoder must not be used by two threads at once. Strings are UTF-8. */
#ifndef ETW_RECORD_H
#define ETW_RECORD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* EVENT_RECORD of evntcons.h, in the layout of Windows for the pointer size of the program: 0x68 bytes on x86, 0x70 on x64 and ARM64. */
struct _EVENT_RECORD;

typedef struct etw_decoder etw_decoder;

/* The result is complete. */
#define ETW_RECORD_OK 0
/* The result is incomplete: a payload does not match its schema (JSON has the rest in hexadecimal digits), or files with schemas are not used. */
#define ETW_RECORD_FAULT 1
/* There is no result. etw_decoder_text returns the error message. */
#define ETW_RECORD_FAILED (-1)

/* A decoder with the schemas of kernel events, and of the providers of Windows and .NET. Never NULL. */
etw_decoder *etw_decoder_new(void);

/* Frees a decoder, and the text that it returned. NULL is ignored. */
void etw_decoder_free(etw_decoder *decoder);

/* Adds the schemas in a file or folder: manifests (.man, .xml), Windows binaries with compiled manifests, and the formats of WPP messages in trace
 * message format files (.tmf) or private program databases (.pdb). They have priority over all others.
 * With ETW_RECORD_FAULT, etw_decoder_text returns the files that are not used, one in each line. */
int32_t etw_decoder_add_schemas(etw_decoder *decoder, const char *path);

/* Decodes the event that Windows passes to an EventRecordCallback. etw_decoder_text returns it as a JSON object. A part of a manifest that an
 * EventSource provider sends is added to the schemas. The time is that of the record, so the consumer must not set
 * PROCESS_TRACE_MODE_RAW_TIMESTAMP. */
int32_t etw_decoder_json(etw_decoder *decoder, const struct _EVENT_RECORD *record);

/* The result of the last call: a string that ends with a NUL, valid until the next call with this decoder. length, unless NULL, receives its length
 * in bytes. */
const char *etw_decoder_text(const etw_decoder *decoder, size_t *length);

#ifdef __cplusplus
}
#endif

#endif
