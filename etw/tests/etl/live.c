/* A consumer: it makes EVENT_RECORDs of the members in a file, and prints the events as JSON. */
#include "etw_record.h"

typedef struct {
    uint16_t Reserved1, ExtType, Reserved2, DataSize;
    uint64_t DataPtr;
} ITEM;

struct _EVENT_RECORD {
    uint64_t EventHeader[10];
    uint8_t BufferContext[4];
    uint16_t ExtendedDataCount, UserDataLength;
    ITEM *ExtendedData;
    void *UserData, *UserContext;
};

#define IS(member, narrow, wide) \
    _Static_assert(offsetof(struct _EVENT_RECORD, member) == (sizeof(void *) == 8 ? wide : narrow), #member)
IS(BufferContext, 0x50, 0x50);
IS(ExtendedDataCount, 0x54, 0x54);
IS(UserDataLength, 0x56, 0x56);
IS(ExtendedData, 0x58, 0x58);
IS(UserData, 0x5c, 0x60);
IS(UserContext, 0x60, 0x68);

#ifdef RUN
#include <stdio.h>
#include <stdlib.h>

static void get(void *to, size_t size) {
    if (fread(to, 1, size, stdin) != size) abort();
}

int main(int count, char **arguments) {
    etw_decoder *decoder = etw_decoder_new();
    struct _EVENT_RECORD record;
    if (count > 1 && etw_decoder_add_schemas(decoder, arguments[1]) != ETW_RECORD_OK) {
        printf("%s\n", etw_decoder_text(decoder, NULL));
        return 1;
    }
    if (etw_decoder_json(decoder, NULL) != ETW_RECORD_FAILED) return 2;
    while (fread(&record, 1, 0x58, stdin) == 0x58) {
        record.ExtendedData = calloc(record.ExtendedDataCount, sizeof(ITEM));
        record.UserData = malloc(record.UserDataLength);
        for (int index = 0; index < record.ExtendedDataCount; index++) {
            ITEM *item = &record.ExtendedData[index];
            get(item, 8);
            void *data = malloc(item->DataSize);
            get(data, item->DataSize);
            item->DataPtr = (uint64_t)(uintptr_t)data;
        }
        get(record.UserData, record.UserDataLength);
        size_t length;
        int32_t status = etw_decoder_json(decoder, &record);
        const char *text = etw_decoder_text(decoder, &length);
        /* The consumer owns its memory again. */
        for (int index = 0; index < record.ExtendedDataCount; index++) free((void *)(uintptr_t)record.ExtendedData[index].DataPtr);
        free(record.ExtendedData);
        free(record.UserData);
        printf("%d ", status);
        fwrite(text, 1, length, stdout);
        puts("");
    }
    etw_decoder_free(decoder);
    return 0;
}
#endif
