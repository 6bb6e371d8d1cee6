import { expect, it } from 'vitest';
import { redactedOutput } from '../../../src/contexts/updates/redacted-output.ts';

it('keeps the end of the output, without secrets and control characters', () => {
  expect(redactedOutput('pulling https://ann:hunter2@registry.example/x')).toBe(
    'pulling https://[redacted]@registry.example/x',
  );
  expect(redactedOutput('DB_PASSWORD=hunter2\r\n"api_key": "k"\nAuthorization: Bearer abc\nok')).toBe(
    'DB_PASSWORD=[redacted]\n"api_key": [redacted]\nAuthorization: [redacted]\nok',
  );
  expect(redactedOutput('-----BEGIN PRIVATE KEY-----\nMC4C\n-----END PRIVATE KEY-----\nok')).toBe('[redacted]\nok');
  expect(redactedOutput('-----BEGIN EC PRIVATE KEY-----\nMC4C')).toBe('[redacted]');
  expect(redactedOutput('a\u001b]0;title\u0007b\u0000c\u202ed\ttab')).toBe('a]0;titlebcd\ttab');
  expect(redactedOutput('x'.repeat(100_000)).length).toBe(4_000);
});
