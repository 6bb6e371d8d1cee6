/**
 * The parsed address, or undefined if the text is none. `URL.canParse` must not decide this: in Node 20 it refuses hosts
 * with letters of Latin-1, such as `https://bücher.example`, once its caller has been optimized.
 */
export function parsedUrl(text: string | URL, base?: string | URL): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
