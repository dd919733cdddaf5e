// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/**
 * Answers many small questions about a chain at once. It is never deployed: a node that is asked to try its creation
 * runs the constructor, and what that leaves as the code of the contract are the answers.
 *
 * A question is an address, one byte, and calldata of as many bytes as that one says. Calldata never has fewer than
 * four, so the small numbers are free: 0 asks for the size of the address's code, 1 for its balance of native coin.
 *
 * An answer is one byte and one word. The byte is 1 when the word is what was asked for, 2 when the address returned
 * nothing, and 0 when it reverted, ran out of gas or returned something else: then the question has to be asked by
 * itself. It also keeps the answers from beginning with 0xef, which no code may.
 */
contract Lens {
    constructor(bytes memory questions) {
        assembly ("memory-safe") {
            // No address may use up what the questions after it need.
            let allowance := 300000
            let question := add(questions, 32)
            let end := add(question, mload(questions))
            let answers := mload(64)
            let answer := answers
            for {} lt(question, end) {} {
                let head := mload(question)
                let target := shr(96, head)
                let size := byte(20, head)
                question := add(question, 21)
                let kind := 1
                switch size
                case 0 { mstore(0, extcodesize(target)) }
                case 1 { mstore(0, balance(target)) }
                default {
                    // Calls may try to change something: all of it is forgotten with the contract.
                    kind := call(allowance, target, 0, question, size, 0, 32)
                    switch returndatasize()
                    case 32 {}
                    case 0 { kind := shl(1, kind) }
                    default { kind := 0 }
                    question := add(question, size)
                }
                mstore8(answer, kind)
                mstore(add(answer, 1), mload(0))
                answer := add(answer, 33)
            }
            return(answers, sub(answer, answers))
        }
    }
}
