import { type Static, Type } from 'typebox';
import type { Examination } from '../../actions/oversight/doctor/share-examination.ts';
import { LEVELS } from '../../domain/doctor/diagnosis.ts';
import { enumOf, Timestamp } from '../schemas.ts';

export function viewExamination({ endedAt, level, sections }: Examination): Static<typeof ExaminationBody> {
  return {
    at: endedAt.toISOString(),
    level,
    sections: sections.map(({ check, title, level: own, facts, findings }) => ({
      check,
      title,
      level: own,
      facts: facts.map(({ name, value }) => ({ name, value })),
      findings: findings.map(({ level: worth, message, remedy }) => ({ level: worth, message, remedy })),
    })),
  };
}

const Level = enumOf(
  LEVELS,
  '`well`. `remark`: worth knowing, nothing to do now. `unknown`: could not be checked. `warning`: something is to be done. `fault`: something does not work, or is about to stop.',
);

export const ExaminationBody = Type.Object(
  {
    at: Timestamp,
    level: Level,
    sections: Type.Array(
      Type.Object(
        {
          check: Type.String({ description: 'A name that stays the same, such as `database`. New ones may be added.' }),
          title: Type.String(),
          level: Level,
          facts: Type.Array(Type.Object({ name: Type.String(), value: Type.String() }, { title: 'ExaminationFact' })),
          findings: Type.Array(
            Type.Object(
              {
                level: Level,
                message: Type.String({ description: 'A sentence in English.' }),
                remedy: Type.String({ description: 'What to do, in English.' }),
              },
              { title: 'ExaminationFinding' },
            ),
          ),
        },
        { title: 'ExaminationSection' },
      ),
    ),
  },
  { title: 'Examination', description: 'The sections, in the order of the report. `level` is the worst of them.' },
);
