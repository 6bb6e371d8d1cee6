/** What an e-mail says. Text and HTML are rendered from the same content. */
export interface EmailContent {
  /** Without control characters. */
  readonly subject: string;
  readonly heading: string;
  readonly paragraphs: readonly string[];
  readonly facts: readonly (readonly [label: string, value: string])[];
  readonly links: readonly EmailLink[];
  readonly footer: string;
  /** Mail programs that show it mark the message. */
  readonly isUrgent: boolean;
}

export interface EmailLink {
  readonly label: string;
  readonly url: string;
}

const SUBJECT_CHARACTERS = 200;

/** Control characters, line separators, and characters that change the direction of the text around them. */
const UNSAFE = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;
/** The same, but line breaks and tabs stay: in paragraphs they are harmless. */
const UNSAFE_IN_TEXT = /[^\P{Cc}\n\t]+|[\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

/** One line that cannot begin another header. */
export const headerLine = (text: string, most = SUBJECT_CHARACTERS): string => {
  const clean = text.replace(UNSAFE, ' ').replace(/\s+/g, ' ').trim();
  const characters = [...clean];
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : clean;
};

const cleanText = (text: string): string => text.replace(/\r\n?/g, '\n').replace(UNSAFE_IN_TEXT, ' ').trim();

/** For a plain client: short lines, and addresses on lines of their own. */
export function renderText({ heading, paragraphs, facts, links, footer }: EmailContent): string {
  const width = Math.max(0, ...facts.map(([label]) => label.length));
  return [
    headerLine(heading),
    ...paragraphs.map(cleanText),
    facts.map(([label, value]) => `${`${label}:`.padEnd(width + 2)}${headerLine(value)}`).join('\n'),
    links.map(({ label, url }) => `${headerLine(label)}:\n${url}`).join('\n\n'),
    `-- \n${footer}`,
  ]
    .filter((part) => part !== '')
    .join('\n\n')
    .concat('\n');
}

/** Loads nothing from elsewhere, and runs nothing. */
export function renderHtml({ subject, heading, paragraphs, facts, links, footer }: EmailContent): string {
  const rows = facts
    .map(
      ([label, value]) =>
        `<tr><th align="left" style="padding:2px 16px 2px 0;font-weight:normal;color:#555">${html(label)}</th><td style="padding:2px 0">${html(headerLine(value))}</td></tr>`,
    )
    .join('');
  return [
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${html(subject)}</title></head>`,
    '<body style="font-family:sans-serif;font-size:15px;line-height:1.4;color:#111;background:#fff">',
    `<h1 style="font-size:19px">${html(headerLine(heading))}</h1>`,
    ...paragraphs.map((text) => `<p>${html(cleanText(text)).replaceAll('\n', '<br>')}</p>`),
    rows === '' ? '' : `<table style="border-collapse:collapse">${rows}</table>`,
    ...links.map(({ label, url }) => `<p><a href="${html(url)}">${html(headerLine(label))}</a></p>`),
    `<p style="color:#555;font-size:13px">${html(footer)}</p></body></html>`,
  ].join('\n');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const html = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character]!);
