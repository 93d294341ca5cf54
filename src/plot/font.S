/* The two fonts, embedded. FONT_SANS and FONT_BOLD are quoted paths given with -D. */
        .section .rodata
        .balign 16
        .globl tapestry_font_sans
        .globl tapestry_font_sans_end
tapestry_font_sans:
        .incbin FONT_SANS
tapestry_font_sans_end:
        .byte 0
        .balign 16
        .globl tapestry_font_bold
        .globl tapestry_font_bold_end
tapestry_font_bold:
        .incbin FONT_BOLD
tapestry_font_bold_end:
        .byte 0

#if defined(__linux__) && defined(__ELF__)
        .section .note.GNU-stack,"",%progbits
#endif
