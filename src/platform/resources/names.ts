/** `canaryCookie` → `canary_cookie`: the spelling of columns, tables, audit words and query parameters. */
export const snakeCase = (camel: string): string => camel.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** `canaryCookie` → `canary cookie`: the noun in a sentence. */
export const inWords = (camel: string): string => snakeCase(camel).replaceAll('_', ' ');

export const capitalized = <Text extends string>(text: Text): Capitalize<Text> =>
  (text.charAt(0).toUpperCase() + text.slice(1)) as Capitalize<Text>;
