import { InvalidArgumentError } from 'commander';
import { baseUrlField } from '../../contexts/tenants/domain/base-url.ts';
import { emailField } from '../../contexts/identity/domain/password-rule.ts';
import { fileText, whyUnread } from '../../platform/file-content.ts';
import { Obstacle } from './outcome.ts';

/** Parsers of option values: a wrong value is refused before anything is opened, and the message names its option. */

export const wholeNumber =
  (most: number) =>
  (text: string): number => {
    if (!/^[1-9]\d{0,8}$/.test(text) || Number(text) > most)
      throw new InvalidArgumentError(`must be a whole number from 1 to ${most}`);
    return Number(text);
  };

export function email(text: string): string {
  if (!emailField.safeParse(text).success) throw new InvalidArgumentError('must be an e-mail address');
  return text;
}

export function webAddress(text: string): string {
  const { error } = baseUrlField.safeParse(text);
  if (error) throw new InvalidArgumentError(error.issues[0]!.message);
  return text;
}

/** 1 to `most` characters that are not all blanks. */
export const textUpTo =
  (most: number) =>
  (text: string): string => {
    const trimmed = text.trim();
    if (trimmed.length === 0 || trimmed.length > most)
      throw new InvalidArgumentError(`must be 1 to ${most} characters long`);
    return trimmed;
  };

/** The name of a file that an option gives. */
export function contentOf(option: string, path: string, mostBytes?: number): string {
  try {
    return fileText(path, mostBytes);
  } catch (error) {
    throw new Obstacle(
      `${option} names ${path}, which cannot be read (${whyUnread(error)}): correct the path or its rights`,
    );
  }
}
