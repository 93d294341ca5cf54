/* The explorer's pages without a recording, embedded: the recorded one, and the live one with the
   engine, which is empty unless `make explorer` built it. Both names are quoted paths. */
        .section .rodata
        .globl tapestry_explorer_page
        .globl tapestry_explorer_page_end
        .globl tapestry_live_page
        .globl tapestry_live_page_end
tapestry_explorer_page:
        .incbin EXPLORER_PAGE
tapestry_explorer_page_end:
        .byte 0
tapestry_live_page:
        .incbin LIVE_PAGE
tapestry_live_page_end:
        .byte 0

#if defined(__linux__) && defined(__ELF__)
        .section .note.GNU-stack,"",%progbits
#endif
