import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { errorCodes, type ErrorCode } from '../src/platform/kernel/error-codes.ts';
import { statusOf } from '../src/app/http/refusal.ts';

/** `node --import tsx scripts/error-codes.ts` writes docs/reference/errors.md from the registry of codes. */
export const ERRORS_PAGE = fileURLToPath(new URL('../docs/reference/errors.md', import.meta.url));

const INTRODUCTION = `# Errors

Every error response has this body, on both listeners, also where the request was no valid HTTP:

\`\`\`json
{
  "error": "validation failed: email: is not a valid email",
  "code": "validation_failed",
  "fields": [
    { "field": "email", "message": "is not a valid email" },
    { "field": "rules.0.action", "message": "must be one of allow, warn, block" }
  ],
  "requestId": "6f1c0d5e-6a55-4f0e-9f0b-6a4b3f0c1a2d"
}
\`\`\`

| Member | Meaning |
|---|---|
| \`error\` | What is wrong, for people. With several wrong fields it names the first one |
| \`code\` | The cause, for programs. Stable: a code is never renamed, and new causes get new codes |
| \`fields\` | Every wrong field at once, at most 100. Empty if no field is at fault |
| \`requestId\` | The same as the header \`X-Request-ID\`. Quote it when you report a problem |

\`field\` is the path of a field in the body (\`rules.0.action\`), a query parameter, a header, or \`body\`, \`path\` or
\`request\` as a whole. A conflict (\`already_exists\`) names the fields whose value another record has.

Some requests get the body of a protocol instead: auto-enrollment (\`{success, error, errorCode}\`), and pages and
redirects of a sign-in in a browser. A response may have further members: a bulk request that was cut off reports what it
has done.

A status of 503 has \`Retry-After\`, unless it lasts until somebody changes something. A request that arrives while the
service stops gets \`service_unavailable\` as the last response of its connection. The table below is written by
\`scripts/error-codes.ts\` from \`src/platform/kernel/error-codes.ts\`.
`;

const row = (code: ErrorCode): string => `| \`${code}\` | ${errorCodes[code].error} | ${errorCodes[code].meaning} |\n`;

const codes = Object.keys(errorCodes) as ErrorCode[];
const statuses = [...new Set(codes.map(statusOf))].toSorted((a, b) => a - b);

/** The page as it should be. */
export const errorsPage =
  INTRODUCTION +
  statuses
    .map(
      (status) =>
        `\n## ${status}\n\n| Code | Text | Meaning |\n|---|---|---|\n${codes
          .filter((code) => statusOf(code) === status)
          .map(row)
          .join('')}`,
    )
    .join('');

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(ERRORS_PAGE, errorsPage);
