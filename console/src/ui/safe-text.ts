/** Controls, and characters that change the order or hide the presence of other characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: controls are what it looks for
const hidden = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g

/** Pure: shows characters that cannot be seen by their code, such as "‹1b›". Tabs stay. */
export const visibleText = (text: string): string =>
  text.replace(hidden, (character) => `‹${character.charCodeAt(0).toString(16).padStart(2, '0')}›`)
