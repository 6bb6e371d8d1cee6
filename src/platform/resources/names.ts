/** `canaryCookie` → `canary_cookie`: the form of columns, tables, audit actions and query parameters. */
export const snakeCase = (camel: string): string => camel.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** `canaryCookie` → `canary cookie`: for sentences. */
export const inWords = (camel: string): string => snakeCase(camel).replaceAll('_', ' ');

export const capitalized = <Text extends string>(text: Text): Capitalize<Text> =>
  (text.charAt(0).toUpperCase() + text.slice(1)) as Capitalize<Text>;
