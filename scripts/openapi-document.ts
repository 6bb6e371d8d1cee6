// node --import tsx scripts/openapi-document.ts [file] Writes the API description, as the service serves it at
// `/openapi.json`, to the file or to standard output.
import { writeFileSync } from 'node:fs';
import { openApiDocument } from '../src/app/http/openapi/document.ts';
import { routeGroups } from '../src/app/http/routes/index.ts';

const text = `${JSON.stringify(openApiDocument(routeGroups), null, 2)}\n`;
const [, , file] = process.argv;
if (file) writeFileSync(file, text);
else process.stdout.write(text);
