// The kit in our density; colours and sizes are those of tokens.css.
import { Button, createTheme, NativeSelect, Textarea, TextInput } from "@mantine/core";

const small = { size: "xs" };

export const theme = createTheme({
  fontFamily: "var(--font)",
  fontFamilyMonospace: "var(--mono)",
  respectReducedMotion: true,
  cursorType: "pointer",
  components: {
    Button: Button.extend({ defaultProps: { ...small, variant: "default" } }),
    TextInput: TextInput.extend({ defaultProps: { ...small, withAsterisk: false, spellCheck: false } }),
    NativeSelect: NativeSelect.extend({ defaultProps: small }),
    Textarea: Textarea.extend({ defaultProps: small }),
    // To lock the page's scrolling, these would write a style sheet, which the page's policy forbids.
    Drawer: { defaultProps: { lockScroll: false } },
    Modal: { defaultProps: { lockScroll: false } },
    Spotlight: { defaultProps: { lockScroll: false } },
  },
});
