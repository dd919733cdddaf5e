import { after } from 'node:test';
import './ending.suite.ts';
import './reading.suite.ts';
import './guarding.suite.ts';
import './demo.suite.ts';
import './pages.suite.ts';
import './receipts.suite.ts';
import { closeSharedScene } from './scene.ts';

after(closeSharedScene);
