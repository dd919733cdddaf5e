import { globalSetup, globalTeardown } from '../global-setup.ts';
import { collectStories, disagreements, textOf } from './money-stories.ts';

/** Prints the table of all ways money can arrive, and what every place says of it. */
await globalSetup();
try {
  const rows = await collectStories();
  const places = [...(rows[0]?.reports.keys() ?? [])];
  process.stdout.write(`${['way', ...places].join(' | ')}\n`);
  for (const { way, reports } of rows) {
    process.stdout.write(
      `${[way.name, ...places.map((place) => textOf(reports.get(place) ?? null) || 'nothing')].join(' | ')}\n`,
    );
  }
  const wrong = disagreements(rows);
  process.stdout.write(`${wrong.length === 0 ? 'All cells are equal.' : wrong.join('\n')}\n`);
  process.exitCode = wrong.length === 0 ? 0 : 1;
} finally {
  await globalTeardown();
}
