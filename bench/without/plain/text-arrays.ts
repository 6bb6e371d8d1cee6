/** Replaces `binary-arrays.ts`: arrays that the driver prints and the server parses. */
export { writeUuid } from '../../../src/platform/database/binary-arrays.ts';

const same = <Item>(items: readonly Item[]): readonly Item[] => items;
export const int2Array = same<number>;
export const int4Array = same<number>;
export const uuidArray = same<string>;
export const textArray = same<string>;
export const jsonArray = same<string>;
export const int8Array = (items: readonly bigint[]): string[] => items.map(String);
export const digestArray = (items: readonly string[]): Buffer[] => items.map((hex) => Buffer.from(hex, 'hex'));
