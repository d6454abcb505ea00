import { start } from './stack/start-command.ts';

await start();
