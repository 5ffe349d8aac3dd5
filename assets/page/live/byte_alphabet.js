// Bytes as printable characters, in which vocabularies of byte-level tokenizers are written, and
// as people see them.

/**
 * The character that stands for each byte: itself when it is printable in Latin-1, otherwise the
 * next from U+0100 on (a space is Ġ).
 * Source: bytes_to_unicode, Radford et al. 2019 (GPT-2).
 * @returns {string[]} [256]
 */
export function byteCharacters() {
  /** @type {string[]} */
  const characters = [];
  let next = 0x100;
  for (let byte = 0; byte < 256; ++byte) {
    const isPrintable =
      (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
    characters.push(String.fromCharCode(isPrintable ? byte : next++));
  }
  return characters;
}

/**
 * The bytes of a token as attnviz' JSON has them: text, or `<F0 9F>` when they are not
 * UTF-8. (attnviz writes only the invalid ones so; the demo's pieces are either ASCII or one byte.)
 * @param {number[]} bytes
 * @returns {string}
 */
export function textOfBytes(bytes) {
  try {
    // Without ignoreBOM a U+FEFF would vanish.
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    return decoder.decode(new Uint8Array(bytes));
  } catch {
    const hex = bytes.map((byte) => byte.toString(16).toUpperCase().padStart(2, "0"));
    return `<${hex.join(" ")}>`;
  }
}

/**
 * The text with all that cannot be seen made visible, as attnviz labels tokens: space ␣, tab ⇥,
 * line feed ⏎, other control characters `\x1B`.
 * @param {string} text
 * @returns {string}
 */
export function visibleText(text) {
  /** @type {Record<string, string>} */
  const signs = { " ": "␣", "\t": "⇥", "\n": "⏎" };
  return text.replace(/[\p{Cc} ]/gu, (character) => {
    const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0");
    return signs[character] ?? `\\x${code}`;
  });
}
