import type { Diagnosis, Finding, Level, Section } from '../domain/doctor/diagnosis.ts';
import { type Command, command, type Output } from './command.ts';
import { examineGateway } from './examine-gateway.ts';
import { align, printable } from './table.ts';

const doctor = command({
  name: 'doctor',
  summary: 'Examine the whole gateway, and say what to do. Exit code 1: something to do, 3: something does not work.',
  examples: ['doctor', 'doctor --json'],
  run: async (context) => report(await examineGateway(context), new Date(context.world.clock.nowMs())),
});

export const doctorCommands: readonly Command[] = [doctor];

const EXIT_CODES: Readonly<Record<Level, NonNullable<Output['exitCode']>>> = {
  well: 0,
  remark: 0,
  unknown: 1,
  warning: 1,
  fault: 3,
};

const VERDICTS: Readonly<Record<Level, string>> = {
  well: 'All is well.',
  remark: 'All is well. There are remarks.',
  unknown: 'Not everything could be checked.',
  warning: 'There is something to do.',
  fault: 'Something does not work.',
};

function report({ level, sections }: Diagnosis, at: Date): Output {
  const lines = sections.flatMap(({ title, facts, level: own }) => [
    `${title}: ${own}`,
    ...align(facts.map(({ name, value }) => [` `, printable(name), printable(value)]))
      .split('\n')
      .filter(Boolean),
    '',
  ]);
  const text = [...lines, ...findingLines(sections), VERDICTS[level]].join('\n');
  const json = { at: at.toISOString(), level, sections };
  return { json, text, exitCode: EXIT_CODES[level] };
}

/** The findings as lines, the worst ones last: operators first read the end of the output. */
function findingLines(sections: readonly Section[]): string[] {
  const found = sections.flatMap(({ title, findings }) => findings.map((finding) => ({ title, ...finding })));
  const levels: readonly Finding['level'][] = ['remark', 'unknown', 'warning', 'fault'];
  const lines = levels.flatMap((level) =>
    found
      .filter((finding) => finding.level === level)
      .map(
        ({ title, message, remedy }) => `${level.toUpperCase()} ${title}: ${printable(message)} ${printable(remedy)}`,
      ),
  );
  return lines.length === 0 ? [] : [...lines, ''];
}
