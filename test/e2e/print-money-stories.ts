import { globalSetup, globalTeardown } from '../global-setup.ts';
import { disagreements, tellStories, textOf } from './money-stories.ts';

/** Prints the table of all ways money can arrive, and what every place says of it. */
await globalSetup();
try {
  const rows = await tellStories();
  const places = [...(rows[0]?.told.keys() ?? [])];
  process.stdout.write(`${['way', ...places].join(' | ')}\n`);
  for (const { way, told } of rows) {
    process.stdout.write(
      `${[way.name, ...places.map((place) => textOf(told.get(place) ?? null) || 'nothing')].join(' | ')}\n`,
    );
  }
  const wrong = disagreements(rows);
  process.stdout.write(`${wrong.length === 0 ? 'All cells are equal.' : wrong.join('\n')}\n`);
  process.exitCode = wrong.length === 0 ? 0 : 1;
} finally {
  await globalTeardown();
}
