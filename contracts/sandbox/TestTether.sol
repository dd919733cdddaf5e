// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/**
 * Play money in the shape of Tether's USDT on Ethereum. Its transfers return nothing, an allowance can only be changed
 * through zero, a subtraction below zero burns all gas, a refusal has no message, and the owner can switch on a fee on
 * every transfer. It supports no signatures, so payments in it go through Permit2.
 */
contract TestTether {
    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event Issue(uint256 amount);
    event Params(uint256 feeBasisPoints, uint256 maxFee);
    event AddedBlackList(address user);
    event RemovedBlackList(address user);
    event Pause();
    event Unpause();

    uint256 public constant decimals = 6;
    string public constant name = "Tether USD";
    string public constant symbol = "USDT";
    uint256 public totalSupply;
    /// The fee switch. Both are zero until the owner calls `setParams`.
    uint256 public basisPointsRate;
    uint256 public maximumFee;
    bool public paused;
    address public owner;
    mapping(address account => uint256) public balanceOf;
    mapping(address owner => mapping(address spender => uint256)) public allowance;
    mapping(address account => bool) public isBlackListed;

    modifier onlyOwner() {
        require(msg.sender == owner);
        _;
    }

    modifier whenNotPaused() {
        require(!paused);
        _;
    }

    /// In place of a constructor: the sandbox puts the code at a fixed address.
    function initialize(address owner_) external {
        require(owner == address(0));
        owner = owner_;
    }

    function transfer(address to, uint256 value) external whenNotPaused {
        require(!isBlackListed[msg.sender]);
        _transfer(msg.sender, to, value);
    }

    /// As in the real contract, the blacklist applies only to `from`.
    function transferFrom(address from, address to, uint256 value) external whenNotPaused {
        require(!isBlackListed[from]);
        uint256 allowed = allowance[from][msg.sender];
        if (allowed < type(uint256).max) allowance[from][msg.sender] = _sub(allowed, value);
        _transfer(from, to, value);
    }

    function approve(address spender, uint256 value) external {
        require(value == 0 || allowance[msg.sender][spender] == 0);
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
    }

    /// Tether issues to its owner; here it may be anyone.
    function mint(address to, uint256 amount) external onlyOwner {
        totalSupply += amount;
        balanceOf[to] += amount;
        emit Issue(amount);
        emit Transfer(address(0), to, amount);
    }

    /// Switches the fee on: basis points of every transfer, up to a maximum in whole dollars.
    function setParams(uint256 feeBasisPoints, uint256 maxFee) external onlyOwner {
        require(feeBasisPoints < 20);
        require(maxFee < 50);
        basisPointsRate = feeBasisPoints;
        maximumFee = maxFee * 10 ** decimals;
        emit Params(basisPointsRate, maximumFee);
    }

    function addBlackList(address user) external onlyOwner {
        isBlackListed[user] = true;
        emit AddedBlackList(user);
    }

    function removeBlackList(address user) external onlyOwner {
        isBlackListed[user] = false;
        emit RemovedBlackList(user);
    }

    function pause() external onlyOwner {
        paused = true;
        emit Pause();
    }

    function unpause() external onlyOwner {
        paused = false;
        emit Unpause();
    }

    function _transfer(address from, address to, uint256 value) private {
        uint256 fee = value * basisPointsRate / 10_000;
        if (fee > maximumFee) fee = maximumFee;
        balanceOf[from] = _sub(balanceOf[from], value);
        balanceOf[to] += value - fee;
        if (fee > 0) {
            balanceOf[owner] += fee;
            emit Transfer(from, owner, fee);
        }
        emit Transfer(from, to, value - fee);
    }

    /// Compilers of 2017 made `assert` an invalid opcode, which uses up all gas.
    function _sub(uint256 a, uint256 b) private pure returns (uint256) {
        if (b > a) {
            assembly {
                invalid()
            }
        }
        return a - b;
    }
}
