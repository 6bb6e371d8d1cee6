const MAX_CHARACTERS = 200;

/** Text of somebody else for a message: one line of printable ASCII, bounded. */
export const asOneLine = (text: string): string => {
  const line = text.replace(/[^\x21-\x7e]+/g, ' ').trim();
  return line.length > MAX_CHARACTERS ? `${line.slice(0, MAX_CHARACTERS)}…` : line || '(empty)';
};
