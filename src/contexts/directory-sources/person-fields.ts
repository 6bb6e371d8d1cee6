import { withAsciiHost } from '../../platform/web-addresses/mail-address.ts';
import { DirectoryFailed, type DirectoryPerson } from './domain/directory-reader.ts';

const MOST = { externalId: 256, memberKey: 2_048, userName: 320, email: 254, text: 200, upn: 320, sid: 200 } as const;
const EMAIL = /^[^\s@<>"(),:;[\]\\]{1,64}@[^\s@<>"(),:;[\]\\]{1,189}$/;

/** Readable text: control characters become spaces, and the end of a text that is too long is dropped. */
export function tidyText(value: string | null | undefined, most: number = MOST.text): string | null {
  const tidy = (value ?? '')
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();
  return tidy === '' ? null : [...tidy].slice(0, most).join('');
}

/** An identifier is never shortened or changed: two people would become one. */
const exact = (value: string | null | undefined, most: number): string | null =>
  value === null ||
  value === undefined ||
  value === '' ||
  value.length > most ||
  !value.isWellFormed() ||
  /\p{Cc}/u.test(value)
    ? null
    : value;

type RawPerson = { readonly [Name in keyof DirectoryPerson]?: DirectoryPerson[Name] | null | undefined };

/** A person within our limits, whatever the directory says of them. Throws if they cannot be told from others. */
export function boundedPerson(raw: RawPerson): DirectoryPerson {
  const externalId = exact(raw.externalId, MOST.externalId);
  const memberKey = exact(raw.memberKey, MOST.memberKey);
  if (externalId === null || memberKey === null)
    throw new DirectoryFailed('the directory lists a person without a usable id');
  const email = exact(raw.email && withAsciiHost(raw.email.trim()), MOST.email);
  const upn = exact(raw.upn?.trim(), MOST.upn);
  const userName = tidyText(raw.userName, MOST.userName) ?? email ?? externalId;
  return {
    externalId,
    memberKey,
    userName,
    email: email !== null && EMAIL.test(email) ? email : null,
    displayName: tidyText(raw.displayName) ?? userName.slice(0, MOST.text),
    department: tidyText(raw.department),
    jobTitle: tidyText(raw.jobTitle),
    isActive: raw.isActive ?? true,
    upn,
    sid: exact(raw.sid, MOST.sid),
  };
}
