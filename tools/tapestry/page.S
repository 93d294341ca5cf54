/* The explorer's page without a recording, embedded. EXPLORER_PAGE is a quoted path. */
        .section .rodata
        .globl tapestry_explorer_page
        .globl tapestry_explorer_page_end
tapestry_explorer_page:
        .incbin EXPLORER_PAGE
tapestry_explorer_page_end:
        .byte 0

#if defined(__linux__) && defined(__ELF__)
        .section .note.GNU-stack,"",%progbits
#endif
