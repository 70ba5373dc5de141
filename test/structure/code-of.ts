/** A comment, a string, or a regular expression after a sign that no operand precedes. */
const quiet =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|(?<=[(,=:[!&|?{};\n] ?)\/(?![/*])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\//g

/**
 * Returns source code with its comments, strings and regular expressions emptied. Lines keep their
 * numbers.
 */
export const codeOf = (text: string): string =>
  text.replace(quiet, (found) => (found.startsWith('`') ? '``' : '') + found.replace(/[^\n]/g, ''))
